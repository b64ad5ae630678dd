import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Has the server listen on a free port, for this machine alone. */
export async function localPort(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
