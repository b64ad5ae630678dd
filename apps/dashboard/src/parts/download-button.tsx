import { Alert, Button } from '@mantine/core';
import { QuittanceError } from '@quittance/client';
import { IconDownload, IconX } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Failure } from './failure.tsx';

type Props = { name: string; label?: string; load(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> };

const kilobytes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'kilobyte',
  maximumFractionDigits: 0,
});

/**
 * Saves a file of the API: how much has come is shown, and it can be stopped. One that breaks off is not saved at all, because a
 * part of a list looks like all of it.
 */
export function DownloadButton({ name, label = 'CSV', load }: Props) {
  const [bytes, setBytes] = useState(0);
  const stop = useRef<AbortController>(undefined);
  const download = useMutation({
    mutationFn: async () => {
      const own = new AbortController();
      stop.current = own;
      setBytes(0);
      const counted = (await load(own.signal)).pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            setBytes((before) => before + chunk.byteLength);
            controller.enqueue(chunk);
          },
        }),
      );
      save(name, await new Response(counted, { headers: { 'Content-Type': 'text/csv' } }).blob());
    },
  });
  useEffect(() => () => stop.current?.abort(), []);
  const isStopped = stop.current?.signal.aborted === true;
  return (
    <>
      {download.isPending ? (
        <Button variant="default" leftSection={<IconX size={16} />} onClick={() => stop.current?.abort()}>
          Stop at {kilobytes.format(bytes / 1_000)}
        </Button>
      ) : (
        <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => download.mutate()}>
          {label}
        </Button>
      )}
      {download.error !== null &&
        !isStopped &&
        (download.error instanceof QuittanceError ? (
          <Failure error={download.error} />
        ) : (
          <Alert color="red" role="alert">
            The file has broken off on its way, and nothing was saved. Try again.
          </Alert>
        ))}
    </>
  );
}

function save(name: string, file: Blob): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
