import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { dependenciesOf, isOwn, manifestOf } from '../deploy/image/installed-packages.ts';

/**
 * The bill of materials of what runs in production: the services, the operator's command and the dashboard, with every package
 * that they have. As JSON of CycloneDX 1.6. The same checkout gives the same text, so that two of them can be compared.
 */
export function sbomDocument(root: string): string {
  const hashes = lockedHashes(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'));
  const found = new Map<string, Models.Component>();

  function take(folder: string): Models.Component {
    const known = found.get(folder);
    if (known !== undefined) return known;
    const component = componentOf(folder, hashes);
    found.set(folder, component);
    for (const link of dependenciesOf(folder).filter(isShipped))
      component.dependencies.add(take(realpathSync(link)).bomRef);
    return component;
  }

  const { version } = manifestOf(root);
  const whole = new Models.Component(Enums.ComponentType.Application, 'quittance', {
    bomRef: 'quittance',
    ...(version !== undefined && { version }),
    licenses: licensesOf(manifestOf(root)),
  });
  const services = readdirSync(join(root, 'services')).map((name) => join('services', name));
  for (const folder of [...services, 'apps/cli', 'apps/dashboard'])
    whole.dependencies.add(take(join(root, folder)).bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: whole }),
    components: new Models.ComponentRepository(found.values()),
  });
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })}\n`;
}

/** What builds the dashboard is not in what comes out. */
const isShipped = (link: string): boolean => !/\/node_modules\/(?:vite|@vitejs\/plugin-react)$/.test(link);

function componentOf(folder: string, hashes: ReadonlyMap<string, string>): Models.Component {
  const manifest = manifestOf(folder);
  const { name = '', version = '' } = manifest;
  const [scope, bare = name] = name.startsWith('@') ? name.split('/') : [undefined, name];
  const id = `${name}@${version}`;
  const common = {
    ...(scope !== undefined && { group: scope }),
    version,
    licenses: licensesOf(manifest),
  };
  // The workspace's own packages are in no registry.
  if (isOwn(folder)) {
    return new Models.Component(Enums.ComponentType.Library, bare, {
      ...common,
      bomRef: `workspace:${name}`,
    });
  }
  const hash = hashes.get(id);
  if (hash === undefined) throw new Error(`pnpm-lock.yaml has no hash of ${id}`);
  const purl = `pkg:npm/${scope === undefined ? '' : `${encodeURIComponent(scope)}/`}${bare}@${version}`;
  return new Models.Component(Enums.ComponentType.Library, bare, {
    ...common,
    purl,
    bomRef: purl,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-512'], hash]]),
  });
}

function licensesOf({ license }: { license?: unknown }): Models.LicenseRepository {
  if (typeof license !== 'string') return new Models.LicenseRepository();
  const isExpression = /^[\w.+() -]+$/.test(license) && !/^SEE |^UNLICENSED$/.test(license);
  const named = isExpression ? new Models.LicenseExpression(license) : new Models.NamedLicense(license);
  return new Models.LicenseRepository([named]);
}

/** What the registry's files were held against when they were installed, in hexadecimal, by `NAME@VERSION`. */
function lockedHashes(lock: string): Map<string, string> {
  const entries = lock.matchAll(
    /^ {2}'?([^\s':]+@[^\s':]+)'?:\n {4}resolution: \{integrity: sha512-([\w+/=]+)/gm,
  );
  return new Map(
    [...entries].map(([, id = '', hash = '']) => [id, Buffer.from(hash, 'base64').toString('hex')]),
  );
}
