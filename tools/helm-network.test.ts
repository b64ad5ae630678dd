import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { type Service, services } from '@quittance/shared/events';
import { parse } from 'yaml';
import { mayReach, type Pod, portsOutside } from './helm/network-reach.ts';
import { type Manifest, REQUIRED, renderChart } from './helm/rendered-chart.ts';

/** Who reaches whom in a cluster: what the networks of docker-compose.yml say, and no more. */

const FETCH_WITHIN_MS = 240_000;
const listening = services.filter((service) => service !== 'signer');

const COLLECTOR = { podSelector: { matchLabels: { app: 'collector' } } };

let usual: Manifest[];
let withKms: Manifest[];
let withCollector: Manifest[];
beforeAll(async () => {
  [usual, withKms, withCollector] = await Promise.all([
    renderChart(REQUIRED),
    renderChart({ ...REQUIRED, services: { signer: { outside: [443] } } }),
    renderChart({ ...REQUIRED, networkPolicy: { collectors: [{ peers: [COLLECTOR], ports: [4318] }] } }),
  ]);
}, FETCH_WITHIN_MS);

const compose = parse(readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8'), {
  merge: true,
}) as {
  services: Record<string, { environment?: Record<string, string | number> }>;
};
// eslint-disable-next-line no-restricted-syntax -- ports
const portOf = (service: string) => Number(compose.services[service]?.environment?.['PORT']);
const podOf = (component: string): Pod => ({
  name: component,
  labels: {
    'app.kubernetes.io/name': 'quittance',
    'app.kubernetes.io/instance': 'quittance',
    'app.kubernetes.io/component': component,
  },
});
const components = [...services, 'provisioner', 'migrate', 'operator'];
const engines: readonly (Pod & { port: number })[] = [
  { name: 'postgres', port: 5432, labels: { 'cnpg.io/cluster': 'quittance-postgres' } },
  { name: 'nats', port: 4222, labels: { 'app.kubernetes.io/name': 'nats' } },
  { name: 'redis', port: 6379, labels: { 'app.kubernetes.io/name': 'redis' } },
];

test('only the gateway reaches a service, at the port that it has in docker-compose.yml, and nobody reaches the signer', () => {
  expect(listening.map(portOf).every(Number.isInteger)).toBe(true);
  const reached = components.flatMap((from) =>
    services
      .filter((to) => to !== from)
      .flatMap((to) =>
        [1, 80, ...listening.map(portOf), 9464]
          .filter((port) => mayReach(usual, podOf(from), podOf(to), port))
          .map((port) => `${from} ${to} ${port}`),
      ),
  );
  const wanted = listening.filter((to) => to !== 'gateway').map((to) => `gateway ${to} ${portOf(to)}`);
  expect(reached.sort()).toEqual(wanted.sort());
});

test('each reaches the engines that it is in one network of docker-compose.yml with', () => {
  const reached = components.map((component) => [
    component,
    engines.filter((to) => mayReach(usual, podOf(component), to, to.port)).map(({ name }) => name),
  ]);
  const ofService = (service: Service) =>
    service === 'gateway' ? ['postgres', 'redis'] : ['postgres', 'nats'];
  expect(reached).toEqual([
    ...services.map((service) => [service, ofService(service)]),
    ['provisioner', ['nats']],
    ['migrate', ['postgres']],
    ['operator', ['postgres', 'nats']],
  ]);
});

test('a pod of somebody else reaches nothing, and the signer nothing outside', () => {
  const stranger: Pod = { name: 'stranger', labels: { app: 'shop' } };
  for (const service of listening)
    expect([service, mayReach(usual, stranger, podOf(service), portOf(service))]).toEqual([service, false]);
  const outside = services.map((service) => [service, portsOutside(usual, podOf(service))]);
  expect(Object.fromEntries(outside)).toEqual({
    gateway: [],
    invoices: [443],
    payouts: [443],
    ledger: [443],
    webhooks: [443, 465, 587],
    signer: [],
    auditor: [443],
  });
  expect(portsOutside(withKms, podOf('signer'))).toEqual([443]);
});

test('the services that send traces reach a collector in the cluster that is named, and the others do not', () => {
  const collector: Pod = { name: 'collector', labels: { app: 'collector' } };
  const reaching = (manifests: Manifest[]) =>
    components.filter((component) => mayReach(manifests, podOf(component), collector, 4318));
  expect(reaching(usual)).toEqual([]);
  expect(reaching(withCollector)).toEqual(['invoices', 'payouts', 'ledger', 'webhooks']);
});

test('without one policy a service is open, which the test above would find', () => {
  const without = usual.filter(
    ({ kind, metadata }) =>
      kind !== 'NetworkPolicy' || !['quittance', 'quittance-payouts'].includes(metadata.name),
  );
  expect(mayReach(without, { name: 'stranger', labels: {} }, podOf('payouts'), portOf('payouts'))).toBe(true);
});
