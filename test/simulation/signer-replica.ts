import type { SenderOf } from '@quittance/chains/registry';
import type { SolanaSender } from '@quittance/chains/solana/sender';
import { commandSubject, commands } from '@quittance/shared/commands';
import { throttledLog } from '@quittance/shared/logger';
import { deriveAddresses } from '@quittance/signer/operations/derive-addresses';
import { signTransactions } from '@quittance/signer/operations/sign-transactions';
import type { SignerChain, Ports as SignerPorts } from '@quittance/signer/ports';
import { scriptedSigner } from '@quittance/testkit/scripted-signer';
import { askOf } from './ports.ts';
import type { Replica } from './process.ts';
import type { Common } from './replica-parts.ts';

/** The signer: it answers, and does nothing unasked. */
export function startSigner({ environment, process, db, bus, clock, logger }: Common): Replica {
  const { chain, wiring } = environment;
  const sender = chain.sender(askOf(environment, process)) as SenderOf<typeof chain.kind>;
  const keys = wiring.signer?.(chain.signer, sender) ?? chain.signer;
  const on = {
    kind: chain.kind,
    chain: chain.chain,
    signer: keys,
    hotKeyIn: 'phrase',
    assets: chain.assets,
    checkAddress: chain.checkAddress,
    nodes: chain.kind === 'solana' ? (sender as SolanaSender) : undefined,
  } as SignerChain;
  const ports: SignerPorts = {
    ...{ db, bus, clock, logger },
    throttledLog: throttledLog(logger, () => clock.now().getTime()),
    chains: new Map([[chain.chain, on]]),
    reconciliation: async () => undefined,
    settings: { limits: {}, reconciledWithinMs: 0 },
  };
  bus.answer(commandSubject('addresses.derive'), (body) =>
    deriveAddresses(ports, commands['addresses.derive'].request.parse(body)),
  );
  const { request } = commands['transactions.sign'];
  const unguarded = scriptedSigner(chain.kind, keys);
  bus.answer(commandSubject('transactions.sign'), (body) =>
    wiring.isSignerUnguarded === true
      ? unguarded.answer(request.parse(body))
      : signTransactions(ports, request.parse(body)),
  );
  return { workers: new Map() };
}
