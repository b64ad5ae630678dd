type Output = { out(text: string): void; err(text: string): void };

/** Starts a command line in this process. @returns its exit code, and what it has printed until now */
export function printing<Code>(run: (to: Output) => Promise<Code>) {
  const said = { out: '', err: '' };
  const code = run({
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return { code, said };
}

/** Runs a command line in this process. @returns its exit code, and all that it has printed */
export async function printed<Code>(run: (to: Output) => Promise<Code>) {
  const { code, said } = printing(run);
  return { code: await code, ...said };
}
