import { ActionIcon, Anchor, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy, IconExternalLink } from '@tabler/icons-react';
import { shortened } from './shortened.ts';
import { isWebLink } from './web-link.ts';

type Props = { hash: string | null; explorerUrl?: string | null };

/** A transaction of a chain: its hash to copy, and its page in a block explorer where the API knows one. */
export function TransactionHash({ hash, explorerUrl }: Props) {
  if (hash === null) return <>—</>;
  return (
    <Group gap={2} wrap="nowrap">
      <Tooltip label={hash}>
        <Code style={{ whiteSpace: 'nowrap' }}>{shortened(hash)}</Code>
      </Tooltip>
      <CopyButton value={hash}>
        {({ copied, copy }) => (
          <ActionIcon
            variant="subtle"
            color={copied ? 'green' : 'gray'}
            onClick={copy}
            aria-label={copied ? 'Copied' : 'Copy the hash of the transaction'}
          >
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        )}
      </CopyButton>
      {explorerUrl !== null && explorerUrl !== undefined && isWebLink(explorerUrl) && (
        <Anchor href={explorerUrl} target="_blank" rel="noreferrer" aria-label="Open in a block explorer">
          <IconExternalLink size={16} />
        </Anchor>
      )}
    </Group>
  );
}
