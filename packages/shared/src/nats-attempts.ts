import { NodeTransport } from 'nats/lib/src/node_transport.js';

let isDone = false;

/**
 * Closes the attempts to connect that the driver has given up. By itself (nats 2.29.3) it leaves their sockets open. A NATS
 * that hung answers them all when it goes on, and closes each, as nobody logs in on it. The driver takes each for the end
 * of its connection, opens another beside it, and reads what both bring as one stream. Then it stops reading, and hears nothing
 * until it misses the answers to its pings, and does so again and again.
 */
export function closeAttemptsGivenUp(): void {
  if (isDone) return;
  isDone = true;
  const { close, dial } = NodeTransport.prototype;
  const givenUp = new WeakSet<NodeTransport>();
  Object.assign(NodeTransport.prototype, {
    // What has no connection yet is closed by the driver for one reason: its time is over.
    async close(this: NodeTransport, error?: Error): Promise<void> {
      if (!this.connected) {
        givenUp.add(this);
        // There is none before TCP has connected.
        (this.socket as typeof this.socket | undefined)?.destroy();
      }
      await close.call(this, error);
    },
    async dial(this: NodeTransport, server: Parameters<typeof dial>[0]): ReturnType<typeof dial> {
      const socket = await dial.call(this, server);
      if (!givenUp.has(this)) return socket;
      socket.destroy();
      throw new Error('the attempt was given up before NATS was connected to');
    },
  });
}
