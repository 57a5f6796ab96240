{{/* What all pods have. */}}
{{- define "gnocco.pod" -}}
automountServiceAccountToken: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 8041
  runAsGroup: 8041
  fsGroup: 8041
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* What all containers have. */}}
{{- define "gnocco.container" -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Probes of the port of a name. */}}
{{- define "gnocco.probes" -}}
livenessProbe:
  httpGet:
    path: /live
    port: {{ . }}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /ready
    port: {{ . }}
  periodSeconds: 2
  failureThreshold: 1
{{- end }}

{{/* Where names are asked for. */}}
{{- define "gnocco.dns" -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: kube-system
      podSelector:
        matchLabels:
          k8s-app: kube-dns
  ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
{{- end }}

{{/* Clients are pods of this cluster of Kubernetes: (list RELEASE NAME PORT TYPES). */}}
{{- define "gnocco.clients" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ index . 1 }}
  namespace: {{ (index . 0).Namespace }}
spec:
  podSelector:
    matchLabels:
      app: {{ index . 1 }}
  policyTypes: {{ index . 3 }}
  ingress:
    - from:
        - namespaceSelector: {}
      ports:
        - port: {{ index . 2 }}
{{- end }}
