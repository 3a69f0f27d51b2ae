{{- define "dbvitals.selector" -}}
app.kubernetes.io/name: dbvitals
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "dbvitals.labels" -}}
{{ include "dbvitals.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* The Service selects by name, so the other pods have a name of their own: (list . "monitor"). */}}
{{- define "dbvitals.partSelector" -}}
app.kubernetes.io/name: dbvitals-{{ last . }}
app.kubernetes.io/instance: {{ (first .).Release.Name }}
{{- end }}

{{- define "dbvitals.partLabels" -}}
{{ include "dbvitals.partSelector" . }}
app.kubernetes.io/version: {{ (first .).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (first .).Release.Service }}
{{- end }}
