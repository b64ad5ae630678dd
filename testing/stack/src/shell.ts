import { execFile } from 'node:child_process';

export type Said = { code: number; stdout: string; stderr: string };
export type ShellOptions = { cwd?: string; env?: NodeJS.ProcessEnv; limitMs?: number; input?: string };

const LIMIT_MS = 5 * 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a program to its end. Only one that cannot be started, or takes too long, throws. */
export function shell(file: string, args: readonly string[], options: ShellOptions = {}): Promise<Said> {
  const { cwd, env = process.env, limitMs = LIMIT_MS, input } = options;
  return new Promise((resolve, reject) => {
    const how = { env, timeout: limitMs, maxBuffer: OUTPUT_BYTES_MAX, ...(cwd === undefined ? {} : { cwd }) };
    const child = execFile(file, args, how, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') {
        const why = error.killed === true ? `took longer than ${limitMs / 1_000} s` : error.message;
        reject(new Error(`${file} ${args.join(' ')}: ${why}\n${stdout}${stderr}`));
        return;
      }
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    // Also without any: what hands its input on to a container would wait for its end.
    child.stdin?.end(input);
  });
}

/** @returns what it printed; throws when it failed, with what it said. */
export async function must(
  file: string,
  args: readonly string[],
  options: ShellOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await shell(file, args, options);
  if (code === 0) return stdout;
  throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
}
