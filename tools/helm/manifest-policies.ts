import type { Container, Manifest, PodSpec } from './rendered-chart.ts';

/** What every pod of ours must have, whatever its values are. */

const isWorkload = ({ kind }: Manifest): boolean => kind === 'Deployment' || kind === 'Job';

export const componentOf = ({ spec, metadata }: Manifest): string =>
  spec.template?.metadata.labels['app.kubernetes.io/component'] ??
  metadata.labels?.['app.kubernetes.io/component'] ??
  '';

export const workloadsOf = (manifests: readonly Manifest[]): Manifest[] => manifests.filter(isWorkload);

const wantedOfPod = {
  automountServiceAccountToken: false,
  // Variables such as PAYOUTS_PORT would come beside our settings.
  enableServiceLinks: false,
};
const wantedOfSecurity = {
  runAsNonRoot: true,
  runAsUser: 10_001,
  seccompProfile: { type: 'RuntimeDefault' },
};
const wantedOfContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Settings that hold a secret: their values come from Secrets only. */
const SECRET_NAME =
  /PASSWORD|SECRET|PRIVATE_KEY|SEED|_URL_ADMIN|DATABASE_URL|NATS_URL|REDIS_URL|RPC_URL|SMTP_URL/;

/** Everything that a pod lacks, one line each. */
export function policyProblems(manifests: readonly Manifest[]): string[] {
  const secrets = manifests
    .filter(({ kind }) => kind === 'Secret')
    .map(({ metadata }) => `Secret ${metadata.name}: secrets are referred to, not made`);
  const workloads = workloadsOf(manifests).flatMap((manifest) => {
    const pod = manifest.spec.template?.spec;
    if (pod === undefined) return [`${manifest.metadata.name} has no pod`];
    return podProblems(pod, manifest.kind === 'Deployment').map(
      (what) => `${manifest.metadata.name}: ${what}`,
    );
  });
  return [...secrets, ...workloads];
}

function podProblems(pod: PodSpec, isServing: boolean): string[] {
  return [
    ...differing('', wantedOfPod, pod),
    ...differing('securityContext.', wantedOfSecurity, pod.securityContext ?? {}),
    ...(pod.hostNetwork === true ? ['it is in the network of its node'] : []),
    ...(pod.volumes ?? [])
      .filter((volume) => 'hostPath' in volume)
      .map(({ name }) => `${name} is of its node`),
    ...pod.containers.flatMap((container) => containerProblems(container, isServing)),
  ];
}

function containerProblems(container: Container, isServing: boolean): string[] {
  const { image, env = [], ports = [], resources, volumeMounts = [] } = container;
  const probes = (['startupProbe', 'livenessProbe', 'readinessProbe'] as const).filter(
    (probe) => container[probe] === undefined,
  );
  return [
    ...differing('container.securityContext.', wantedOfContainer, container.securityContext ?? {}),
    ...(/:[^:/]+$/.test(image) && !image.endsWith(':latest') ? [] : [`the image ${image} has no version`]),
    ...(resources?.requests?.['cpu'] && resources.requests['memory'] && resources.limits?.['memory']
      ? []
      : ['it says nothing of the memory and the processors that it needs']),
    ...(isServing && ports.length > 0 ? probes.map((probe) => `it has no ${probe}`) : []),
    ...volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ name }) => `it may write to ${name}`),
    ...env
      .filter(({ name, value }) => value !== undefined && SECRET_NAME.test(name))
      .map(({ name }) => `${name} stands in the manifest`),
  ];
}

const differing = (place: string, wanted: object, found: object): string[] =>
  Object.entries(wanted).flatMap(([name, value]) => {
    const own = (found as Record<string, unknown>)[name];
    return JSON.stringify(own) === JSON.stringify(value)
      ? []
      : [`${place}${name} is ${JSON.stringify(own)}, not ${JSON.stringify(value)}`];
  });
