import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type Service, services } from '@quittance/shared/events';
import { z } from 'zod';
import { serviceSchemas } from './service-schemas.ts';

/** A setting that docker-compose.yml does not hand on has no effect, and nobody is told. */

/** For tests; for sandboxes, whose button pays; for chains that are thrown away; and for development's. */
const NOT_FOR_COMPOSE = /^SANDBOX_URL$|^CRASH_AT$|^SOLANA_BEGAN$|_QUIET_MS$/;
/** Public keys are for who gives out addresses, those of the hot wallets for who pays from them. */
const isFor = (service: Service, setting: string) =>
  !NOT_FOR_COMPOSE.test(setting) &&
  (service === 'invoices' || !setting.endsWith('_XPUB')) &&
  (service === 'payouts' || !setting.endsWith('_HOT_ADDRESS'));

const compose = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');

/** The settings that stand below a heading, and those that are merged into them. */
function namesBelow(heading: RegExp): string[] {
  const [, indent = '', rest = ''] = new RegExp(`${heading.source}\\n([^]*)`, 'm').exec(compose) ?? [];
  const body = rest.split(new RegExp(`^${indent}\\S`, 'm'))[0] ?? '';
  const [, merged = ''] = /<<: (.*\*(?:settings|chains).*)/.exec(body) ?? [];
  return [
    ...[...merged.matchAll(/\*(\w+)/g)].flatMap(([, name]) => namesBelow(new RegExp(`^()x-${name}: .*`))),
    ...[...body.matchAll(/^ +([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name),
  ];
}

/** By its name, what docker-compose.yml says of each container. */
const containers = new Map(
  (compose.split(/^services:$/m)[1] ?? '')
    .split(/^\S/m)[0]
    ?.split(/^(?= {2}[a-z]+:$)/m)
    .flatMap((text) => [...text.matchAll(/^ {2}([a-z]+):$/gm)].map(([, name = '']) => [name, text] as const)),
);

test('docker-compose.yml allows no core dump of a container that has a password or a key', () => {
  expect(containers.size).toBeGreaterThan(12);
  const template = /^x-service: &service$.*?^$/ms.exec(compose)?.[0];
  expect(template).toContain('ulimits: *no-core-dumps');
  expect(compose).toContain('x-no-core-dumps: &no-core-dumps { core: 0 }');
  const dumping = [...containers].filter(([, text]) => !/<<: \*service|ulimits: \*no-core-dumps/.test(text));
  expect(dumping.map(([name]) => name)).toEqual(['prometheus', 'grafana']);
});

test('docker-compose.yml has each service in a network without the other services, but for the gateway', () => {
  const networksOf = (name: string) => {
    const text = containers.get(name) ?? '';
    if (/^ {4}network_mode: none$/m.test(text)) return [];
    return /^ {4}networks: \[(.+)\]$/m.exec(text)?.[1]?.split(', ') ?? ['default'];
  };
  const behind = services.filter((service) => service !== 'gateway');
  for (const service of behind) expect([service, networksOf(service)]).toEqual([service, [service]]);
  // The tools of the operator and what merchants never ask have no way to a service's port.
  for (const name of ['redis', 'migrate', 'provisioner', 'quittance', 'grafana'])
    expect([
      name,
      networksOf(name).filter((network) => behind.some((service) => service === network)),
    ]).toEqual([name, []]);
  expect([...containers.keys()].filter((name) => networksOf(name).includes('default'))).toEqual([]);
});

test.each(services)('docker-compose.yml hands on every setting of %s', (service) => {
  const { properties = {} } = z.toJSONSchema(serviceSchemas[service], {
    io: 'input',
    unrepresentable: 'any',
  });
  const wanted = Object.keys(properties).filter((name) => isFor(service, name));
  expect(wanted).toContain('DATABASE_URL');
  const given = namesBelow(new RegExp(`^( {2})${service}:`));
  expect(wanted.filter((name) => !given.includes(name))).toEqual([]);
});

test('docker-compose.yml hands on who types the operator’s command', () => {
  expect(namesBelow(/^( {2})quittance:/)).toEqual(
    expect.arrayContaining(['OPERATOR_DATABASE_URL', 'QUITTANCE_OPERATOR']),
  );
});

test('docker-compose.yml hands on the private key of the gateway to the gateway alone', () => {
  const having = services.filter((service) =>
    namesBelow(new RegExp(`^( {2})${service}:`)).includes('GATEWAY_PRIVATE_KEY'),
  );
  expect(having).toEqual(['gateway']);
  expect([...compose.matchAll(/\$\{GATEWAY_PRIVATE_KEY/g)]).toHaveLength(1);
});

test('docker-compose.yml gives the wallet to the signer alone, which nothing reaches and which publishes no port', () => {
  const having = [...containers].filter(([, text]) =>
    /\.\/wallet|WALLET_(?:KEYSTORE|PASSPHRASE_FILE)/.test(text),
  );
  expect(having.map(([name]) => name)).toEqual(['signer']);
  // The sandbox fills its hot wallets.
  const seeded = [...containers].filter(([, text]) => text.includes('WALLET_SEED'));
  expect(seeded.map(([name]) => name)).toEqual(['signer', 'chains']);
  expect(containers.get('signer')).not.toMatch(/^ {4}ports:/m);
  const inItsNetwork = [...containers].filter(([, text]) => /^ {4}networks: \[.*\bsigner\b.*\]$/m.test(text));
  expect(inItsNetwork.map(([name]) => name)).toEqual(['postgres', 'nats', 'signer']);
});

test('docker-compose.yml lets services connect to Postgres, NATS and Redis by TLS alone, and by the authority of their certificates', () => {
  const urls = [...compose.matchAll(/^ +\w*(?:DATABASE_URL|NATS_URL|REDIS_URL)\w*: (.+)$/gm)].map(
    ([, url]) => url,
  );
  expect(urls.length).toBeGreaterThan(13);
  const encrypted =
    /^(?:postgres:.*\?sslmode=verify-full&sslrootcert=|tls:.*@nats:4222\?sslrootcert=|rediss:.*\?sslrootcert=)\/tls\/ca\.crt$/;
  expect(urls.filter((url) => !encrypted.test(url ?? ''))).toEqual([]);
});

test('docker-compose.yml gives the key of each engine to that engine alone', () => {
  for (const engine of ['postgres', 'nats', 'redis']) {
    const having = [...containers]
      .filter(([, text]) => text.includes(`tls-${engine}:`))
      .map(([name]) => name);
    expect(having).toEqual(['certificates', engine]);
  }
});
