import type { ChainSender } from '@quittance/chains/chain';
import type { Wiring } from '../mutant.ts';

/** Whoever asks and sends on the chain does some of it otherwise; `S` is the part of its kind's sender that a mutant knows. */
export function sendsOtherwise<S extends object>(
  wiring: Wiring,
  otherwise: (sender: ChainSender & S) => Partial<ChainSender & S>,
): void {
  wiring.sender = <T extends ChainSender>(sender: T): T => ({
    ...sender,
    ...otherwise(sender as unknown as ChainSender & S),
  });
}

/** Whoever signs does some of it otherwise; `S` is the part of its kind's signer that a mutant knows. */
export function signsOtherwise<S extends object>(
  wiring: Wiring,
  otherwise: (signer: S, sender: ChainSender) => Partial<S>,
): void {
  wiring.signer = <T extends object>(signer: T, sender: ChainSender): T => ({
    ...signer,
    ...otherwise(signer as unknown as S, sender),
  });
}
