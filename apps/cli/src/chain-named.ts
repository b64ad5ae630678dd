import { type Chain, chains } from '@quittance/shared/assets';
import { CommandError } from './surroundings.ts';

/** The chain that an operator means. Throws CommandError, which names all there are. */
export function chainNamed(text: string): Chain {
  const chain = chains.find((one) => one === text.toLowerCase());
  if (chain === undefined)
    throw new CommandError(`There is no chain ${JSON.stringify(text)}; there are ${chains.join(', ')}.`);
  return chain;
}
