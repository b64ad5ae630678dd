{{- define "quittance.name" -}}
{{- if contains "quittance" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-quittance" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Of all pods of a release. */}}
{{- define "quittance.selector" -}}
app.kubernetes.io/name: quittance
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Given a list of the root and the name of a component. */}}
{{- define "quittance.componentSelector" -}}
{{ include "quittance.selector" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "quittance.labels" -}}
{{ include "quittance.componentSelector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end }}

{{- define "quittance.image" -}}
{{- $root := index . 0 -}}
{{ printf "%s/%s:%s" $root.Values.image.prefix (index . 1) ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
{{- end }}

{{/* A user of its own, and no right that a program needs beside its own files. */}}
{{- define "quittance.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "quittance.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "quittance.secretSettings" -}}
{{- range . }}
- secretRef: { name: {{ . }} }
{{- end }}
{{- end }}

{{- define "quittance.authorityMount" -}}
{{- if .Values.authority.secret }}
- { name: authority, mountPath: /tls, readOnly: true }
{{- end }}
{{- end }}

{{- define "quittance.authorityVolume" -}}
{{- with .Values.authority }}
{{- if .secret }}
- name: authority
  secret:
    secretName: {{ .secret }}
    items: [{ key: {{ .key }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- end }}

{{- define "quittance.publicAddresses" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
- ipBlock: { cidr: "::/0", except: ["::1/128", "fc00::/7", "fe80::/10"] }
{{- end }}

{{/* Of networkPolicy: nodes of chains, or collectors, that are not outside. */}}
{{- define "quittance.reached" -}}
{{- range . }}
- to: {{ toYaml .peers | nindent 4 }}
  ports:
    {{- range .ports }}
    - { port: {{ . }} }
    {{- end }}
{{- end }}
{{- end }}
