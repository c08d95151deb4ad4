{{- define "operator.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: gpu-operator
{{- end -}}

{{- define "operator.image" -}}
{{ .Values.operator.repository }}/{{ .Values.operator.image }}:{{ .Values.operator.version | default .Chart.AppVersion }}
{{- end -}}

{{- define "operator.part" -}}
{{- $part := deepCopy .part -}}
{{- if not $part.version }}{{ $_ := set $part "version" .chart.AppVersion }}{{ end -}}
{{- toYaml $part -}}
{{- end -}}
