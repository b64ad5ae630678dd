import type { Socket } from 'node:net';
import { peerOf } from './domain/peer.ts';

export type ConnectionRules = {
  /** Open at a time, per peer. */
  max: number;
  /** Its connections are those of all its clients. */
  isTrusted(address: string | undefined): boolean;
  /** Hears of each connection that was one too many; `isFirst` since this peer had none open. */
  refused(peer: string, isFirst: boolean): void;
};

/** Counts the open connections of each peer. @returns whether one more is taken */
export function countConnections({ max, isTrusted, refused }: ConnectionRules): (socket: Socket) => boolean {
  const open = new Map<string, number>();
  const refusedPeers = new Set<string>();
  return (socket) => {
    if (isTrusted(socket.remoteAddress)) return true;
    const peer = peerOf(socket.remoteAddress);
    const count = open.get(peer) ?? 0;
    if (count >= max) {
      refused(peer, !refusedPeers.has(peer));
      refusedPeers.add(peer);
      return false;
    }
    open.set(peer, count + 1);
    socket.once('close', () => {
      const left = (open.get(peer) ?? 1) - 1;
      if (left === 0) {
        open.delete(peer);
        refusedPeers.delete(peer);
      } else open.set(peer, left);
    });
    return true;
  };
}
