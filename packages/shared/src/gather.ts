import { isDatabaseDown } from './db.ts';

export type GatherOptions<In, Out> = {
  /** Does it for several at once, all or none; answers in their order. */
  run: (items: readonly In[]) => Promise<readonly Out[]>;
  /** How many go into one run. */
  max: number;
  /** How many runs may be under way; what arrives meanwhile goes along with the next. */
  atOnce: number;
};

type Waiting<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void };

/**
 * Makes one statement of what several callers want at the same moment: under load a round trip and a commit
 * serve many. A caller alone waits for nobody, and nothing is remembered between runs.
 */
export function gather<In, Out>({ run, max, atOnce }: GatherOptions<In, Out>): (item: In) => Promise<Out> {
  const waiting: Waiting<In, Out>[] = [];
  let underWay = 0;

  async function settle(batch: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const outs = await run(batch.map(({ item }) => item));
      for (const [i, { resolve }] of batch.entries()) resolve(outs[i] as Out);
    } catch (error) {
      // One that is refused must not take the others with it.
      if (batch.length > 1 && !isDatabaseDown(error)) for (const one of batch) await settle([one]);
      else for (const { reject } of batch) reject(error);
    }
  }

  function start(): void {
    while (waiting.length > 0 && underWay < atOnce) {
      underWay += 1;
      void settle(waiting.splice(0, max)).then(() => {
        underWay -= 1;
        start();
      });
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // At the end of this turn of the event loop, together with what else arrived in it.
      if (waiting.length === 1) setImmediate(start);
    });
}
