{{- /* The parts that the pods of services, monitors and backups share. */}}
{{- define "dbvitals.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- /* The store is that of the Secret, unless the settings name another. */}}
{{- define "dbvitals.env" -}}
{{- $settings := .Values.settings }}
{{- range $name := list "HOST" "PORT" "METRICS_HOST" "METRICS_PORT" "DBVITALS_DATA_DIR" }}
{{- if hasKey $settings $name }}
{{- fail (printf "Remove %s from settings: the probes, Services and volumes rely on the image's own." $name) }}
{{- end }}
{{- end }}
{{- range $name, $value := dict "DBVITALS_DRAIN_SECONDS" "drainSeconds" "DBVITALS_TRUST_PROXY" "trustProxy" }}
{{- if hasKey $settings $name }}
{{- fail (printf "Set %s instead of settings.%s." $value $name) }}
{{- end }}
{{- end }}
{{- if not (or (hasKey $settings "DATABASE_URL") (hasKey $settings "DATABASE_URL_FILE") (hasKey $settings "DBVITALS_CELLS_FILE")) }}
{{- if .Values.cells }}
- name: DBVITALS_CELLS_FILE
  value: /run/dbvitals/cells.yaml
{{- else }}
- name: DATABASE_URL_FILE
  value: /run/dbvitals/database-url
{{- end }}
{{- end }}
{{- if not (or (hasKey $settings "DBVITALS_SECRET_KEY") (hasKey $settings "DBVITALS_SECRET_KEY_FILE")) }}
- name: DBVITALS_SECRET_KEY_FILE
  value: /run/dbvitals/secret-key
{{- end }}
{{- range $name, $value := $settings }}
- name: {{ $name }}
  {{- /* Helm reads "no" without quotes as false, and whole numbers as 1e+07. */}}
  {{- if kindIs "bool" $value }}
  value: {{ ternary "yes" "no" $value | quote }}
  {{- else if kindIs "float64" $value }}
  value: {{ int64 $value | quote }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "dbvitals.mounts" -}}
- name: secret
  mountPath: /run/dbvitals
  readOnly: true
- name: tmp
  mountPath: /tmp
- name: data
  mountPath: /data
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "dbvitals.volumes" -}}
- name: secret
  secret:
    secretName: {{ .Values.secret }}
    defaultMode: 0440
- name: tmp
  emptyDir: {}
- name: data
  emptyDir: {}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "dbvitals.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  fsGroup: 10001
  # Otherwise each start makes the files of a volume readable by the group, and a collector refuses a key that others can read.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
