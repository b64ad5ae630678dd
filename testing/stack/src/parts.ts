import { startAnvil } from '@quittance/engines/anvil';
import { startBitcoind } from '@quittance/engines/bitcoind';
import { startNats } from '@quittance/engines/nats';
import { startPostgres } from '@quittance/engines/postgres';
import { startRedis } from '@quittance/engines/redis';
import { startSurfpool } from '@quittance/engines/surfpool';
import { startServiceProcess, startServicesTogether } from './service-process.ts';

/** How each part of a stack is started. */
export type Parts = {
  postgres: typeof startPostgres;
  nats: typeof startNats;
  redis: typeof startRedis;
  ethereum: typeof startAnvil;
  bitcoin: typeof startBitcoind;
  solana: typeof startSurfpool;
  service: typeof startServiceProcess;
  together: typeof startServicesTogether;
};

/** Each as a process of this machine. */
export const processes: Parts = {
  postgres: startPostgres,
  nats: startNats,
  redis: startRedis,
  ethereum: startAnvil,
  bitcoin: startBitcoind,
  solana: startSurfpool,
  service: startServiceProcess,
  together: startServicesTogether,
};
