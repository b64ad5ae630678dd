import type { Readable } from 'node:stream';

const LINE_LENGTH_MAX = 4_000;

/** Hands on every line of a stream that is not blank, the last one too where nothing ends it, cut to 4,000 characters. */
export function takeLines(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(-LINE_LENGTH_MAX);
    for (const line of lines) if (line.trim() !== '') take(line.slice(0, LINE_LENGTH_MAX));
  });
  stream.on('end', () => {
    if (rest.trim() !== '') take(rest);
  });
}
