import './tags.css';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ComboBox } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Text } from 'react-aria-components/Text';
import { get } from '../api.ts';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

/** The most tags to suggest. */
const OFFERED = 30;

interface TagCount {
  tag: string;
  connections: number;
}

/** The account's tags, and how many connections have each. */
export const tagsQuery = queryOptions({
  queryKey: ['tags'],
  queryFn: ({ signal }) => get<{ data: TagCount[] }>('/tags', {}, signal),
});

interface TagFilterProps {
  chosen: readonly string[];
  onChange: (tags: readonly string[]) => void;
}

/** Filters a list by tags, found by a part of them. Shown only if there are tags, or one is chosen. */
export function TagFilter({ chosen, onChange }: TagFilterProps) {
  const [text, setText] = useState('');
  const { data } = useQuery(tagsQuery);
  const known = data?.data ?? [];
  if (known.length + chosen.length === 0) return null;
  const part = text.trim().toLowerCase();
  const found = known.filter(({ tag }) => !chosen.includes(tag) && tag.includes(part)).slice(0, OFFERED);
  return (
    <div className="chosen-tags">
      <ComboBox
        allowsEmptyCollection
        aria-label="Tag"
        className="search"
        defaultFilter={() => true}
        inputValue={text}
        items={found.map(({ tag, connections }) => ({ id: tag, connections }))}
        menuTrigger="focus"
        onInputChange={setText}
        onSelectionChange={(tag) => {
          if (tag === null) return;
          setText('');
          onChange([...chosen, String(tag)]);
        }}
        selectedKey={null}
      >
        <Icon name="search" />
        <Input className="field-box" placeholder="Filter by tag" />
        <Popover className="popover">
          <ListBox className="choices" renderEmptyState={() => <p className="quiet">No tag matches.</p>}>
            {({ id, connections }: { id: string; connections: number }) => (
              <ListBoxItem className="choice" id={id} textValue={id}>
                <span>
                  <Text slot="label">
                    <bdi>{id}</bdi>
                  </Text>
                  <Text className="field-description" slot="description">
                    {connections === 1 ? '1 connection' : `${connections.toLocaleString('en')} connections`}
                  </Text>
                </span>
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </ComboBox>
      {chosen.map((tag) => (
        <Button
          aria-label={`Tag ${tag}: remove from the filter`}
          icon="close"
          key={tag}
          onPress={() => onChange(chosen.filter((one) => one !== tag))}
          small
        >
          <bdi>{tag}</bdi>
        </Button>
      ))}
    </div>
  );
}
