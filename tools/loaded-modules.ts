import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How many modules, our own and those of packages, a process has loaded once it has loaded this file. */
export function loadedModules(root: string, file: string): { own: number; packages: number } {
  const program = `
    import { registerHooks } from 'node:module';
    const count = { own: 0, packages: 0 };
    registerHooks({
      load(url, context, next) {
        if (url.startsWith('file:')) count[url.includes('/node_modules/') ? 'packages' : 'own'] += 1;
        return next(url, context);
      },
    });
    await import(${JSON.stringify(pathToFileURL(join(root, file)).href)});
    process.stdout.write(JSON.stringify(count), () => process.exit(0));`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${file} cannot be loaded: ${stderr}`);
  return JSON.parse(stdout) as { own: number; packages: number };
}
