import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root, textOf } from './tracked-files.ts';

/**
 * Proves that dependency-cruiser sees what it should: it must find exactly the offences seeded under
 * tools/dependency-fixtures, and every rule must have one. Silence there would mean silence everywhere.
 */
const folder = 'tools/dependency-fixtures';

type Rules = { forbidden: { name: string }[] };
type Cruise = { summary: { violations: { from: string; rule: { name: string } }[] } };

function seeded(): string[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }).flatMap((file) => {
    const [, names] = /^\/\/ breaks: (.+)/.exec(textOf(file)) ?? [];
    return (names ?? '')
      .split(', ')
      .filter((name) => name !== '')
      .map((rule) => `${file} breaks ${rule}`);
  });
}

function found(): string[] {
  const output = execFileSync(
    process.execPath,
    [
      join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
      folder,
      '--config',
      `${folder}/.dependency-cruiser.cjs`,
      '--output-type',
      'json',
    ],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  const { summary } = JSON.parse(output) as Cruise;
  return summary.violations
    .filter(({ from }) => from.startsWith(`${folder}/`))
    .map(({ from, rule }) => `${from} breaks ${rule.name}`);
}

const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as Rules;
const expected = new Set(seeded());
const seen = new Set(found());
const problems = [
  ...[...expected.difference(seen)].map((offence) => `not found: ${offence}`),
  ...[...seen.difference(expected)].map((offence) => `found, but not seeded: ${offence}`),
  ...rules.forbidden
    .filter(({ name }) => ![...expected].some((offence) => offence.endsWith(` breaks ${name}`)))
    .map(({ name }) => `the rule ${name} has no seeded offence: add a file below ${folder}`),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (seen.size === 0) {
  process.stdout.write('dependency-cruiser found nothing at all: can it resolve typescript?\n');
}
process.exitCode = problems.length === 0 ? 0 : 1;
