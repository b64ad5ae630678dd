import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { services } from '@quittance/shared/events';
import { parse } from 'yaml';
import { z } from 'zod';
import { componentOf, policyProblems, workloadsOf } from './helm/manifest-policies.ts';
import { schemaProblems } from './helm/manifest-schemas.ts';
import { CHART, type Manifest, REQUIRED, renderChart, withValues } from './helm/rendered-chart.ts';
import { documentedMetrics } from './metrics-named.ts';
import { serviceSchemas } from './service-schemas.ts';

/** The chart of deploy/helm, as Helm renders it: by the schemas of Kubernetes, and by what we want of every pod. */

const FETCH_WITHIN_MS = 240_000;
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const listening = services.filter((service) => service !== 'signer');

const everything = {
  ...REQUIRED,
  monitoring: { enabled: true, labels: { release: 'prometheus' } },
  autoscaling: { enabled: true },
  ingress: { enabled: true, className: 'nginx', host: 'pay.example.com', tlsSecret: 'pay-tls' },
  imagePullSecrets: [{ name: 'registry' }],
  services: { signer: { outside: [443] } },
  networkPolicy: {
    nodes: [{ peers: [{ podSelector: { matchLabels: { app: 'bitcoind' } } }], ports: [8332] }],
  },
};
const least = { ...REQUIRED, authority: { secret: '' }, services: { signer: { wallet: '' } } };

let usual: Manifest[];
let all: Manifest[];
let bare: Manifest[];
beforeAll(async () => {
  [usual, all, bare] = await Promise.all([
    renderChart(REQUIRED),
    renderChart(everything),
    renderChart(least),
  ]);
}, FETCH_WITHIN_MS);

type Schema = { properties: Record<string, unknown> };

const copied = (manifests: readonly Manifest[]) => structuredClone(manifests) as Manifest[];
const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.filter((one) => one.kind === kind);
const deployment = (manifests: readonly Manifest[], component: string) => {
  const found = workloadsOf(manifests).find((one) => componentOf(one) === component);
  const container = found?.spec.template?.spec.containers[0];
  if (found === undefined || container === undefined) throw new Error(`there is no ${component}`);
  return { found, container };
};

describe('schemas', () => {
  test('every manifest is one of Kubernetes, of KEDA or of the operator of Prometheus, without a field too many', () => {
    expect(schemaProblems([...usual, ...all, ...bare])).toEqual([]);
    const kinds = new Set(all.map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(
      [
        ...[
          'ConfigMap',
          'Deployment',
          'Ingress',
          'Job',
          'NetworkPolicy',
          'PodDisruptionBudget',
          'PrometheusRule',
        ],
        ...['ScaledObject', 'Service', 'ServiceAccount', 'ServiceMonitor'],
      ].sort(),
    );
  });

  test('a field that does not exist, a text for a number and a missing field are found', () => {
    const broken = copied(usual);
    const { found, container } = deployment(broken, 'ledger');
    Object.assign(container, { readinesProbe: {} });
    Object.assign(found.spec, { replicas: '3' });
    delete (ofKind(broken, 'Service')[0]?.spec.ports?.[0] as { port?: number } | undefined)?.port;
    const problems = schemaProblems(broken).join('\n');
    expect(problems).toMatch(/readinesProbe.* does not exist in type/);
    expect(problems).toMatch(/replicas/);
    expect(problems).toMatch(/Service quittance-auditor: .*port/s);
  });

  test('Helm finds nothing wrong, and refuses an installation without the values that it needs', async () => {
    expect(await withValues(REQUIRED, ['lint', '--strict'])).toContain('0 chart(s) failed');
    const { publicUrl, gatewayPublicKey } = REQUIRED;
    await expect(renderChart({ gatewayPublicKey })).rejects.toThrow(/publicUrl is the URL at which/);
    await expect(renderChart({ publicUrl })).rejects.toThrow(/gatewayPublicKey is the public key/);
  });

  test.each([
    [{ publicURL: 'https://x' }, /publicURL/],
    [{ services: { ledgr: { replicas: 3 } } }, /ledgr/],
    [{ services: { ledger: { replica: 3 } } }, /replica'/],
    [{ services: { ledger: { settings: { prices: 'public' } } } }, /prices/],
    [{ services: { signer: { outside: ['443'] } } }, /got string, want integer/],
  ])('Helm refuses a value that the chart does not know, such as %j', async (values, message) => {
    await expect(renderChart({ ...REQUIRED, ...values })).rejects.toThrow(message);
  });

  test('the values of the chart are those that its schema knows', () => {
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Schema;
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, object>;
    const known = Object.keys(schema.properties).filter((name) => name !== 'global');
    expect(Object.keys(values).sort()).toEqual(known.sort());
    expect(Object.keys(values['services'] ?? {}).sort()).toEqual([...services].sort());
  });
});

describe('pods', () => {
  test('each is not root, writes nowhere, has no token and no capability, says what it needs, and is probed', () => {
    for (const manifests of [usual, all, bare]) expect(policyProblems(manifests)).toEqual([]);
    expect(workloadsOf(usual).map(componentOf).sort()).toEqual(
      ['migrate', 'provisioner', ...services].sort(),
    );
  });

  test('one that lacks something of that is found', () => {
    const broken = copied(usual);
    const { found, container } = deployment(broken, 'payouts');
    const pod = found.spec.template?.spec;
    Object.assign(pod ?? {}, {
      automountServiceAccountToken: true,
      securityContext: { runAsNonRoot: false },
    });
    Object.assign(container, {
      securityContext: {},
      image: 'quittance/payouts:latest',
      readinessProbe: undefined,
    });
    container.env?.push({ name: 'CLAIM_LINKS_SECRET', value: 'x' });
    const problems = policyProblems(broken).join('\n');
    for (const text of [
      'automount',
      'runAsNonRoot',
      'readOnlyRoot',
      'capabilities',
      'no version',
      'readinessProbe',
    ])
      expect(problems).toContain(text);
    expect(problems).toContain('CLAIM_LINKS_SECRET stands in the manifest');
  });

  test('each service is disrupted one pod at a time, and has two replicas at least', () => {
    for (const service of services) {
      const { found } = deployment(usual, service);
      expect(found.spec.replicas).toBeGreaterThanOrEqual(2);
      const budgets = ofKind(usual, 'PodDisruptionBudget').filter(
        ({ spec }) => JSON.stringify(spec.selector) === JSON.stringify(found.spec.selector),
      );
      expect([service, budgets.map(({ spec }) => spec.maxUnavailable)]).toEqual([service, [1]]);
    }
  });

  test('the migrations run before each installation and upgrade', () => {
    const [job] = ofKind(usual, 'Job');
    expect(job?.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    expect(job?.spec.template?.spec.containers[0]?.args).toEqual(['migrate']);
  });
});

/** By component, the Secrets that it is given: as settings, or as files. */
const secretsOf = (manifests: readonly Manifest[]) =>
  new Map(
    workloadsOf(manifests).map((manifest) => {
      const pod = manifest.spec.template?.spec;
      const given = (pod?.containers ?? []).flatMap(({ envFrom = [] }) =>
        envFrom.map((one) => one.secretRef?.name),
      );
      const files = (pod?.volumes ?? []).map(({ secret }) => secret?.secretName);
      return [componentOf(manifest), [...given, ...files].filter((name) => name !== undefined)] as const;
    }),
  );

describe('settings and secrets', () => {
  /** The table of docs/kubernetes.md: the keys of each Secret, and who is given it. */
  const documented = [
    ...read('docs/kubernetes.md').matchAll(/^\| `(quittance-\w+)` \| (.+) \| (.+) \|$/gm),
  ].map(([, name = '', keys = '', to = '']) => ({
    name,
    keys: [...keys.matchAll(/`([A-Z_]+)`/g)].map(([, key = '']) => key),
    to: to.split(', '),
  }));

  test('each component is given its own Secrets, as docs/kubernetes.md says, and no others', () => {
    const given = secretsOf(usual);
    for (const [component, names] of given) {
      const wanted = documented.filter(({ to }) => to.includes(component) || to.includes('all'));
      expect([component, names.toSorted()]).toEqual([component, wanted.map(({ name }) => name).sort()]);
    }
    expect(
      [...given].filter(([, names]) => names.includes('quittance-wallet')).map(([name]) => name),
    ).toEqual(['signer']);
  });

  test.each(services)('%s is given every setting that it requires', (service) => {
    const { container } = deployment(usual, service);
    const common = ofKind(usual, 'ConfigMap').flatMap(({ data = {} }) => Object.keys(data));
    const own = (container.env ?? []).map(({ name }) => name);
    const secret = documented.filter(({ to }) => to.includes(service)).flatMap(({ keys }) => keys);
    const { required = [] } = z.toJSONSchema(serviceSchemas[service], {
      io: 'input',
      unrepresentable: 'any',
    });
    expect(required.length).toBeGreaterThan(0);
    expect(required.filter((name) => ![...common, ...own, ...secret].includes(name))).toEqual([]);
    if (service === 'gateway') {
      const urls = own.filter((name) => name.endsWith('_URL')).sort();
      expect(urls).toEqual(['AUDITOR_URL', 'INVOICES_URL', 'LEDGER_URL', 'PAYOUTS_URL', 'WEBHOOKS_URL']);
    }
  });
});

describe('Prometheus', () => {
  test('the alerts are those of deploy/prometheus, with links to this installation', () => {
    expect(readFileSync(join(CHART, 'files/alerts.yml'), 'utf8')).toBe(read('deploy/prometheus/alerts.yml'));
    const text = read('deploy/prometheus/alerts.yml').replaceAll(
      '{{ $externalLabels.installation }}',
      'https://pay.example.com',
    );
    expect(ofKind(all, 'PrometheusRule').map(({ spec }) => spec.groups)).toEqual([parse(text).groups]);
  });

  test('the ServiceMonitors choose the port of metrics of every service, once', () => {
    const monitored = ofKind(all, 'ServiceMonitor').flatMap(({ spec }) => {
      const [chosen] = (spec.selector?.['matchExpressions'] ?? []) as { operator: string }[];
      const [{ port }] = spec['endpoints'] as [{ port: string }];
      return ofKind(all, 'Service')
        .filter((one) => (componentOf(one) === 'gateway') === (chosen?.operator === 'In'))
        .filter((one) => one.spec.ports?.some(({ name }) => name === port))
        .map(componentOf);
    });
    expect(monitored.sort()).toEqual([...listening].sort());
  });

  test('replicas follow metrics that exist, and Helm sets no number of them then', () => {
    const known = new Set(documentedMetrics().map(({ name }) => name));
    const scaled = ofKind(all, 'ScaledObject');
    expect(scaled.map(componentOf).sort()).toEqual(['gateway', 'invoices', 'ledger', 'payouts', 'webhooks']);
    for (const { spec, metadata } of scaled) {
      expect(spec.minReplicaCount).toBeGreaterThanOrEqual(2);
      const names = (spec.triggers ?? []).flatMap(
        ({ metadata: { query } }) => query.match(/\b\w+(?=\{)/g) ?? [],
      );
      expect(names.length).toBe(spec.triggers?.length);
      expect(names.filter((name) => !known.has(name) && !name.startsWith('nodejs_'))).toEqual([]);
      const found = ofKind(all, 'Deployment').find((one) => one.metadata.name === metadata.name);
      expect([metadata.name, found?.spec.replicas]).toEqual([metadata.name, undefined]);
    }
  });
});
