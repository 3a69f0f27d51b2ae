{{- define "dbvitals.selector" -}}
app.kubernetes.io/name: dbvitals
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dbvitals.labels" -}}
{{ include "dbvitals.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
