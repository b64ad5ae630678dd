import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { CommandError } from '../surroundings.ts';
import type { Store } from './store.ts';
import { IS_TAKEN, noStore, refused, statusOf } from './store-errors.ts';

/** A store has at least 5 MiB in all parts but the last, and some want all of one size. */
const PART_BYTES = 16 * 1_024 * 1_024;
/** What a store takes of one object: 156 GiB with parts of this size. */
const PARTS_MAX = 10_000;
const NOT_IMPLEMENTED = 501;

type Upload = { Bucket: string; Key: string; UploadId: string };

/**
 * Uploads as it comes, one part in memory, to a name that nothing has yet. It is complete under its name, or not there at all:
 * when it fails, the parts that are in the store already are thrown away.
 */
export async function uploadBackup(
  store: Store,
  key: string,
  chunks: AsyncIterable<Uint8Array>,
  stop: AbortSignal,
): Promise<void> {
  const { client, bucket } = store;
  const name = `s3://${bucket}/${key}`;
  const asRefusal = refused(store, 'write', name);
  const object = { Bucket: bucket, Key: key };
  if (await isTaken(store, object)) throw new CommandError(`${name} ${IS_TAKEN}`);
  const { UploadId } = await client
    .send(new CreateMultipartUploadCommand(object), { abortSignal: stop })
    .catch(asRefusal);
  if (UploadId === undefined) throw new CommandError(noStore(store.at));
  const upload = { ...object, UploadId };
  try {
    const parts: CompletedPart[] = [];
    let bytes = 0;
    for await (const part of inParts(chunks)) {
      if (parts.length === PARTS_MAX)
        throw new CommandError(
          `The backup is larger than ${PARTS_MAX} parts of ${PART_BYTES} bytes: use --to -.`,
        );
      const PartNumber = parts.length + 1;
      const { ETag } = await client
        .send(new UploadPartCommand({ ...upload, PartNumber, Body: part }), { abortSignal: stop })
        .catch(asRefusal);
      parts.push({ PartNumber, ETag });
      bytes += part.length;
    }
    await complete(store, upload, parts).catch(async (error: unknown) => {
      // The answer to a first attempt may be lost: then the next one finds no upload, or the name taken.
      if ((await sizeOf(store, object)) !== bytes) asRefusal(error);
    });
  } catch (error) {
    throw (await isAborted(store, upload)) ? error : withPartsLeft(error);
  }
}

type StoredObject = { Bucket: string; Key: string };

/** Undefined where there is no such object, or the store does not say. */
const sizeOf = ({ client }: Store, object: StoredObject): Promise<number | undefined> =>
  client.send(new HeadObjectCommand(object)).then(
    ({ ContentLength }) => ContentLength,
    () => undefined,
  );

/** False where the store does not say so: who may only write is not told, and what else is wrong, the upload is told as well. */
async function isTaken(store: Store, object: StoredObject): Promise<boolean> {
  try {
    const { ETag } = await store.client.send(new HeadObjectCommand(object));
    return ETag !== undefined;
  } catch (error) {
    return statusOf(error) === undefined ? refused(store, 'write', object.Key)(error) : false;
  }
}

/** Only while nothing has the name. A store that knows no conditions has been asked before. */
async function complete({ client }: Store, upload: Upload, Parts: CompletedPart[]): Promise<void> {
  const order = { ...upload, MultipartUpload: { Parts } };
  try {
    await client.send(new CompleteMultipartUploadCommand({ ...order, IfNoneMatch: '*' }));
  } catch (error) {
    if (statusOf(error) !== NOT_IMPLEMENTED) throw error;
    await client.send(new CompleteMultipartUploadCommand(order));
  }
}

async function isAborted({ client }: Store, upload: Upload): Promise<boolean> {
  try {
    await client.send(new AbortMultipartUploadCommand(upload));
    return true;
  } catch {
    // Told together with the error that has ended the upload.
    return false;
  }
}

function withPartsLeft(error: unknown): unknown {
  if (!(error instanceof CommandError)) return error;
  return new CommandError(
    `${error.message} No backup was made; parts of it may be left in the bucket until its lifecycle rule removes incomplete uploads.`,
  );
}

async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    while (length + rest.length >= PART_BYTES) {
      const taken = PART_BYTES - length;
      yield Buffer.concat([...waiting, rest.subarray(0, taken)]);
      rest = rest.subarray(taken);
      waiting = [];
      length = 0;
    }
    waiting.push(rest);
    length += rest.length;
  }
  if (length > 0) yield Buffer.concat(waiting);
}
