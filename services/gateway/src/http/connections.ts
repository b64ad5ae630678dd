import type { Socket } from 'node:net';
import { clientKeyOf } from '../domain/client-address.ts';

export type ConnectionRules = {
  /** Open at a time, per client. */
  max: number;
  /** Its connections are those of all its clients. */
  isTrusted(address: string | undefined): boolean;
  /** Hears of each connection that was one too many; `isFirst` since this client had none open. */
  refused(client: string, isFirst: boolean): void;
};

/** Counts the open connections of each client. @returns whether one more is taken */
export function countConnections({ max, isTrusted, refused }: ConnectionRules): (socket: Socket) => boolean {
  const open = new Map<string, number>();
  const refusedClients = new Set<string>();
  return (socket) => {
    if (isTrusted(socket.remoteAddress)) return true;
    const client = clientKeyOf(socket.remoteAddress);
    const count = open.get(client) ?? 0;
    if (count >= max) {
      refused(client, !refusedClients.has(client));
      refusedClients.add(client);
      return false;
    }
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left === 0) {
        open.delete(client);
        refusedClients.delete(client);
      } else open.set(client, left);
    });
    return true;
  };
}
