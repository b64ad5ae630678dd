import type { Manifest, Peer } from './rendered-chart.ts';

/** Who reaches whom by the NetworkPolicies of a namespace, as Kubernetes reads them. */

export type Pod = { name: string; labels: Readonly<Record<string, string>> };

const matches = (wanted: Readonly<Record<string, string>> = {}, labels: Pod['labels']): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** A peer without a selector of namespaces is a pod of this namespace. */
const isPeer = ({ podSelector, namespaceSelector, ipBlock }: Peer, { labels }: Pod): boolean =>
  ipBlock === undefined && namespaceSelector === undefined && matches(podSelector?.matchLabels, labels);

type Direction = 'Ingress' | 'Egress';

/** Undefined where no policy chooses the pod in this direction: then everything is allowed. */
function allowed(policies: readonly Manifest[], pod: Pod, direction: Direction) {
  const own = policies.filter(
    ({ spec }) =>
      matches(spec.podSelector?.matchLabels, pod.labels) && spec.policyTypes?.includes(direction) === true,
  );
  if (own.length === 0) return undefined;
  return own.flatMap(({ spec }) =>
    direction === 'Ingress'
      ? (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports })),
  );
}

/** Whether a pod may connect to a port of another one. */
export function mayReach(manifests: readonly Manifest[], from: Pod, to: Pod, port: number): boolean {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const lets = (direction: Direction, pod: Pod, other: Pod) => {
    const rules = allowed(policies, pod, direction);
    return (
      rules === undefined ||
      rules.some(
        ({ peers, ports }) =>
          (peers === undefined || peers.some((peer) => isPeer(peer, other))) &&
          (ports === undefined || ports.some((one) => one.port === port)),
      )
    );
  };
  return lets('Egress', from, to) && lets('Ingress', to, from);
}

/** The ports of addresses outside of the cluster that a pod may reach. */
export function portsOutside(manifests: readonly Manifest[], pod: Pod): number[] {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const rules = allowed(policies, pod, 'Egress') ?? [];
  return rules
    .filter(({ peers = [] }) => peers.some(({ ipBlock }) => ipBlock !== undefined))
    .flatMap(({ ports = [] }) => ports.map(({ port }) => port));
}
