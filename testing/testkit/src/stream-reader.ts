import { type IncomingMessage, type RequestOptions, request } from 'node:http';

/** What a client of a stream has of it so far. */
export type StreamReading = {
  answer: IncomingMessage;
  text(): string;
  ended: Promise<'whole' | 'broken off'>;
  leave(): void;
};

/** Asks for a stream on this machine, over a connection of its own; answers when its headers are there. */
export function readStream(options: RequestOptions & { port: number; path: string }): Promise<StreamReading> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', agent: false, ...options });
    asked.on('error', reject);
    asked.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const ended = new Promise<'whole' | 'broken off'>((told) => {
        answer.on('end', () => told('whole'));
        answer.on('error', () => told('broken off'));
      });
      resolve({ answer, text: () => text, ended, leave: () => asked.destroy() });
    });
    asked.end();
  });
}
