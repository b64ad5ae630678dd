import { GetObjectCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { CommandError } from '../surroundings.ts';
import type { Store } from './store.ts';
import type { StoreAddress } from './store-address.ts';
import { noStore, refused } from './store-errors.ts';

/** How often in a row a connection may break off before it has given anything. */
const BROKEN_MAX = 5;

/** The bytes of an object, from where they broke off when a connection ends early, as it may while the records are written. */
export async function* storedBytes(store: Store, key: string): AsyncGenerator<Uint8Array> {
  const name = `s3://${store.bucket}/${key}`;
  let read = 0;
  let broken = 0;
  let first: { total: number; etag: string | undefined } | undefined;
  do {
    const order = new GetObjectCommand({
      Bucket: store.bucket,
      Key: key,
      ...(first === undefined ? {} : { Range: `bytes=${read}-`, IfMatch: first.etag }),
    });
    const { Body, ContentLength, ETag } = await store.client.send(order).catch(refused(store, 'read', name));
    if (Body === undefined || ContentLength === undefined) throw new CommandError(noStore(store.at));
    first ??= { total: ContentLength, etag: ETag };
    const chunks = (Body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const before = read;
    let end: unknown = new Error('the connection ended early');
    try {
      for (;;) {
        const next = await chunks.next().catch((error: unknown) => {
          end = error;
          return { done: true as const };
        });
        if (next.done === true) break;
        read += next.value.length;
        yield next.value;
      }
    } finally {
      await chunks.return?.();
    }
    broken = read > before ? 0 : broken + 1;
    if (broken > BROKEN_MAX) refused(store, 'read', name)(end);
  } while (read < first.total);
}

/** The objects directly below the path, and when each was put there. */
export async function storedBelow(
  store: Store,
  { bucket, path }: StoreAddress,
  within: AbortSignal,
): Promise<{ name: string; time: Date }[]> {
  const prefix = path === '' ? '' : `${path}/`;
  const found: { name: string; time: Date }[] = [];
  const pages = paginateListObjectsV2(
    store,
    { Bucket: bucket, Prefix: prefix, Delimiter: '/' },
    { abortSignal: within },
  );
  try {
    for await (const { Contents = [] } of pages)
      for (const { Key = '', LastModified } of Contents)
        found.push({ name: Key.slice(prefix.length), time: LastModified ?? new Date(0) });
  } catch (error) {
    refused(store, 'list', `s3://${bucket}/${prefix}`)(error);
  }
  return found;
}
