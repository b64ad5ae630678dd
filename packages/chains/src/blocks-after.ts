import type { Block, ChainReader } from './chain.ts';

/** While catching up; a node serves a few at once as fast as one. */
const AT_ONCE = 4;

/**
 * `blocksAfter` of a chain whose heights have no gaps: one after the other up to the first that is not there, or
 * that is not the child of the one before it, because the node changed its mind in between.
 */
export async function blocksAfter(
  block: ChainReader['block'],
  height: number,
  limit: number,
  atOnce = AT_ONCE,
): Promise<Block[]> {
  const blocks: Block[] = [];
  // At the head, which is the usual case, one question is enough.
  for (let asked = 1; blocks.length < limit; asked = atOnce) {
    const from = height + blocks.length + 1;
    const count = Math.min(asked, limit - blocks.length);
    const found = await Promise.all(Array.from({ length: count }, (_, i) => block(from + i)));
    for (const next of found) {
      const last = blocks.at(-1);
      if (next === undefined || (last !== undefined && next.parentHash !== last.hash)) return blocks;
      blocks.push(next);
    }
  }
  return blocks;
}
