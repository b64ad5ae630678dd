import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { root } from '../tracked-files.ts';

/** What Helm makes of the chart. */

export const CHART = join(root, 'deploy/helm/quittance');

type Selector = { matchLabels?: Record<string, string> };
export type Container = {
  name: string;
  image: string;
  args?: string[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  env?: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  securityContext?: Record<string, unknown>;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  startupProbe?: object;
  livenessProbe?: object;
  readinessProbe?: object;
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
};
export type PodSpec = {
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  hostNetwork?: boolean;
  securityContext?: Record<string, unknown>;
  containers: Container[];
  volumes?: { name: string; secret?: { secretName: string } }[];
};
export type Peer = {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
};
type Ports = { port: number; protocol?: string }[];
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: Record<string, string>;
  spec: {
    replicas?: number;
    selector?: Selector & Record<string, unknown>;
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    podSelector?: Selector;
    policyTypes?: string[];
    ingress?: { from?: Peer[]; ports?: Ports }[];
    egress?: { to?: Peer[]; ports?: Ports }[];
    maxUnavailable?: number;
    ports?: { name: string; port: number }[];
    groups?: unknown[];
    triggers?: { metadata: { query: string } }[];
    minReplicaCount?: number;
    [more: string]: unknown;
  };
};

/** Values that every installation gives. */
export const REQUIRED = { publicUrl: 'https://pay.example.com/', gatewayPublicKey: 'gwpk_example' };

const FETCH = join(root, 'tools/setup/fetch-helm.mjs');
const execute = promisify(execFile);

let place: Promise<string> | undefined;

/** Where Helm is; fetched once when this machine has none. */
const helmPath = (): Promise<string> =>
  (place ??= execute(process.execPath, [FETCH]).then(({ stdout }) => stdout.trim()));

async function helm(args: readonly string[]): Promise<string> {
  const { stdout } = await execute(await helmPath(), [...args], { maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

/** Runs a command of Helm on the chart with these values. Throws what Helm says. */
export async function withValues(values: object, command: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-helm-'));
  try {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    return await helm([...command, CHART, '--values', file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function renderChart(values: object): Promise<Manifest[]> {
  const text = await withValues(values, ['template', 'quittance', '--namespace', 'payments']);
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}
