import { Table, type TableProps } from '@mantine/core';

type Props = TableProps & {
  /** Below this it scrolls sideways. */
  minWidth: number;
};

/** A table that scrolls sideways on a phone: who has no mouse moves it with the arrow keys. */
export const ScrollTable = ({ minWidth, ...table }: Props) => (
  <Table.ScrollContainer minWidth={minWidth} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table {...table} />
  </Table.ScrollContainer>
);
