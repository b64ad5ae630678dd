import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/* What packages need at run time, as pnpm has installed it. A package is the real path of its folder. */

export type Manifest = {
  name?: string;
  version?: string;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  /** knex names its drivers here alone. */
  peerDependenciesMeta?: Record<string, object>;
};

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Whether it is of the workspace. */
export const isOwn = (folder: string): boolean => !folder.includes('/node_modules/');

/** What `overrides` in pnpm-workspace.yaml takes away, because the package that names it does not load it. */
const TAKEN_AWAY: readonly string[] = ['@tabler/icons'];

/** pnpm lays what an installed package depends on beside it, in `.pnpm/NAME@VERSION/node_modules/`. */
function linksOf(folder: string): string {
  if (isOwn(folder)) return join(folder, 'node_modules');
  const above = dirname(folder);
  return basename(above).startsWith('@') ? dirname(above) : above;
}

/** The links to what a package needs. */
export function dependenciesOf(folder: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifestOf(folder);
  const links = linksOf(folder);
  const there = (name: string) => existsSync(join(links, name));
  // A peer may be optional too, and TypeScript is many packages' peer for its types alone: nothing here compiles.
  const perhaps = Object.keys({ ...optionalDependencies, ...peerDependencies, ...peerDependenciesMeta })
    .filter((name) => name !== 'typescript')
    .filter(there);
  const needed = Object.keys(dependencies ?? {}).filter(
    (name) => !perhaps.includes(name) && !TAKEN_AWAY.includes(name),
  );
  const optional = new Set(Object.keys(optionalDependencies ?? {}));
  const missing = needed.filter((name) => !optional.has(name) && !there(name));
  if (missing.length > 0) throw new Error(`${folder} needs ${missing.join(', ')}: not installed`);
  return [...needed.filter(there), ...perhaps]
    .filter((name) => !name.startsWith('@types/'))
    .map((name) => join(links, name));
}
