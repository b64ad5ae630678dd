import fs from 'node:fs';
import path from 'node:path';
import { onPath, run } from './commands.mjs';

const DEBIAN_KEYRINGS = [
  '/usr/share/keyrings/debian-archive-keyring.gpg',
  '/usr/share/keyrings/debian-archive-keyring.pgp',
];
/** Most of it is decompression. */
const UNPACKED_AT_ONCE = 4;
const DEBIAN_MIRROR = 'http://deb.debian.org/debian/';

/**
 * An apt-get of our own: own sources, lists and archives below `scratch`, so that it needs no root, no
 * lock of the system's and leaves nothing behind. The system's configuration still counts (proxies), but
 * for the hooks that clean up after the system's own apt.
 */
export async function aptFor(scratch, suite, setup) {
  const [aptGet] = onPath(['apt-get'], `${setup.path}:/usr/bin`);
  if (!aptGet) throw new Error('there is no apt-get on this machine');
  const keyring = DEBIAN_KEYRINGS.find((file) => fs.existsSync(file));
  const mirror = await debianMirror(aptGet);
  if (!mirror || (!keyring && osRelease().ID !== 'debian'))
    throw new Error('this machine does not know Debian');
  for (const folder of ['lists/partial', 'archives/partial', 'root', 'tmp']) {
    fs.mkdirSync(path.join(scratch, folder), { recursive: true });
  }
  const trust = keyring ? `[signed-by=${keyring}] ` : '';
  fs.writeFileSync(path.join(scratch, 'sources.list'), `deb ${trust}${mirror} ${suite} main\n`);
  fs.writeFileSync(path.join(scratch, 'apt.conf'), aptConfig(scratch));
  const apt = (args) => must(aptGet, ['-qq', '-c', path.join(scratch, 'apt.conf'), ...args], scratch);
  await apt(['update']);
  return apt;
}

function aptConfig(scratch) {
  const settings = {
    'Dir::Etc::sourcelist': path.join(scratch, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::Lists': path.join(scratch, 'lists'),
    'Dir::Cache': scratch,
    'Dir::Cache::archives': path.join(scratch, 'archives'),
    // That is: no change of user. The sandbox user could not enter a checkout in a private folder.
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': 'true',
    'APT::Get::AllowUnauthenticated': 'false',
    'Acquire::AllowInsecureRepositories': 'false',
    // Otherwise an update that reached nothing succeeds, and the package is "not found" later.
    'APT::Update::Error-Mode': 'any',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    'Acquire::Languages': 'none',
  };
  const hooks = [
    'APT::Update::Post-Invoke',
    'APT::Update::Post-Invoke-Success',
    'DPkg::Post-Invoke',
    'DPkg::Pre-Install-Pkgs',
  ];
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`);
  return `${[...lines, ...hooks.map((hook) => `#clear ${hook};`)].join('\n')}\n`;
}

/** The mirror the machine is already set up with (it may be the only one it can reach), else Debian's own. */
async function debianMirror(aptGet) {
  const targets = await run(aptGet, ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
  const configured = targets.output.split('\n').find((line) => /\/debian\/?$/.test(line.trim()));
  return configured?.trim() ?? DEBIAN_MIRROR;
}

export async function unpackDebs(from, scratch) {
  const debs = fs.readdirSync(from).filter((name) => name.endsWith('.deb'));
  if (debs.length === 0) throw new Error('apt-get downloaded no package');
  const unpackNext = async () => {
    for (let deb = debs.pop(); deb !== undefined; deb = debs.pop())
      await must('dpkg-deb', ['-x', path.join(from, deb), path.join(scratch, 'root')]);
  };
  await Promise.all(Array.from({ length: UNPACKED_AT_ONCE }, unpackNext));
}

export function osRelease() {
  if (!fs.existsSync('/etc/os-release')) return {};
  const lines = fs.readFileSync('/etc/os-release', 'utf8').split('\n');
  return Object.fromEntries(
    lines.map((line) => line.split('=', 2).map((part) => part.replace(/^"|"$/g, ''))),
  );
}

/** Debian keeps libraries below usr/lib/<machine>; some packages still use lib/<machine>, and one a folder of its own. */
export function libraryPath(root) {
  const folders = ['usr/lib', 'lib'].flatMap((lib) => {
    const parent = path.join(root, lib);
    if (!fs.existsSync(parent)) return [];
    const inner = fs.readdirSync(parent).filter((name) => name.includes('-linux-'));
    return inner
      .flatMap((name) => [path.join(parent, name), path.join(parent, name, 'pulseaudio')])
      .filter((folder) => fs.existsSync(folder));
  });
  return folders.length > 0 ? folders.join(':') : undefined;
}

/** @returns what the command said */
export async function must(command, args, scratch) {
  // apt and gpgv write to TMPDIR, and a shared /tmp may hold files of the same name that are another user's.
  const env = scratch ? { ...process.env, LC_ALL: 'C', TMPDIR: path.join(scratch, 'tmp') } : process.env;
  const answer = await run(command, args, { cwd: scratch, env });
  if (answer.code !== 0) throw new Error(answer.output.trim() || `${path.basename(command)} failed`);
  return answer.output;
}
