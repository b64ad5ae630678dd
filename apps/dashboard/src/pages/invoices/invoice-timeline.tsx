import { Anchor, Text, Timeline } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Time } from '../../parts/time.tsx';
import type { TimelineEntry } from './timeline.ts';

export const InvoiceTimeline = ({ entries }: { entries: readonly TimelineEntry[] }) => (
  <Timeline active={entries.length} bulletSize={12} lineWidth={2}>
    {entries.map(({ at, title, detail, source, tone, to }, place) => (
      <Timeline.Item
        key={place}
        color={tone}
        title={
          to === undefined ? (
            <Text size="sm">{title}</Text>
          ) : (
            <Anchor component={Link} to={to} size="sm">
              {title}
            </Anchor>
          )
        }
      >
        {detail !== undefined && <Text size="xs">{detail}</Text>}
        <Text size="xs" c="dimmed">
          <Time at={at} /> · {source}
        </Text>
      </Timeline.Item>
    ))}
  </Timeline>
);
