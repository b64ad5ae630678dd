import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import ts from 'typescript';
import { root } from '../tracked-files.ts';
import type { Manifest } from './rendered-chart.ts';

/**
 * The schemas of Kubernetes' OpenAPI and of the custom resources. Two readings of the same: their validators know formats and required
 * fields, and leave out what they do not know; the types that are made of them know no field too many.
 */

type Model = new (data: never) => { validate(): void };
const models: Readonly<Record<string, { model: Model; types: string }>> = {
  'apps/v1 Deployment': { model: Deployment, types: 'kubernetes-models/apps/v1/Deployment' },
  'batch/v1 Job': { model: Job, types: 'kubernetes-models/batch/v1/Job' },
  'networking.k8s.io/v1 Ingress': { model: Ingress, types: 'kubernetes-models/networking.k8s.io/v1/Ingress' },
  'networking.k8s.io/v1 NetworkPolicy': {
    model: NetworkPolicy,
    types: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  },
  'policy/v1 PodDisruptionBudget': {
    model: PodDisruptionBudget,
    types: 'kubernetes-models/policy/v1/PodDisruptionBudget',
  },
  'v1 ConfigMap': { model: ConfigMap, types: 'kubernetes-models/v1/ConfigMap' },
  'v1 Service': { model: Service, types: 'kubernetes-models/v1/Service' },
  'v1 ServiceAccount': { model: ServiceAccount, types: 'kubernetes-models/v1/ServiceAccount' },
  'keda.sh/v1alpha1 ScaledObject': {
    model: ScaledObject,
    types: '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject',
  },
  'monitoring.coreos.com/v1 ServiceMonitor': {
    model: ServiceMonitor,
    types: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
  },
  'monitoring.coreos.com/v1 PrometheusRule': {
    model: PrometheusRule,
    types: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
  },
};

const nameOf = ({ kind, metadata }: Pick<Manifest, 'kind' | 'metadata'>) => `${kind} ${metadata.name}`;

/** Everything in which the manifests differ from their schemas. */
export function schemaProblems(manifests: readonly Manifest[]): string[] {
  const strange = manifests.filter(({ apiVersion, kind }) => models[`${apiVersion} ${kind}`] === undefined);
  if (strange.length > 0) return strange.map((one) => `${one.apiVersion} ${nameOf(one)}: no schema is known`);
  return [...manifests.flatMap(validated), ...typeProblems(manifests)];
}

function validated(manifest: Manifest): string[] {
  const known = models[`${manifest.apiVersion} ${manifest.kind}`];
  if (known === undefined) return [];
  try {
    new known.model(manifest as never).validate();
    return [];
  } catch (error) {
    return [`${nameOf(manifest)}: ${Error.isError(error) ? error.message : String(error)}`];
  }
}

/** TypeScript accepts no property in a literal that its type does not have. */
function typeProblems(manifests: readonly Manifest[]): string[] {
  const imports = new Set(
    manifests.map(({ apiVersion, kind }) => {
      const { types } = models[`${apiVersion} ${kind}`] ?? { types: '' };
      return `import type { I${kind} } from '${types}';`;
    }),
  );
  const constants = manifests.map(
    (manifest, at) => `export const m${at}: I${manifest.kind} = ${JSON.stringify(manifest)};`,
  );
  const lines = [...imports, ...constants];
  const file = `${root}/tools/helm/rendered-manifests.ts`;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.getSourceFile = (name, ...more) =>
    name === file
      ? ts.createSourceFile(name, lines.join('\n'), ts.ScriptTarget.ES2024)
      : getSourceFile.call(host, name, ...more);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ start, file: source, messageText }) => {
    const line =
      source === undefined || start === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line;
    const manifest = manifests[line - imports.size];
    const text = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n').slice(0, 2).join(': ');
    return `${manifest === undefined ? file : nameOf(manifest)}: ${text}`;
  });
}
