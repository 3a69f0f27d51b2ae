import './tags.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read } from '../api.ts';
import { Button } from './button.tsx';
import { counted } from './figure.ts';
import { SearchChoice } from './search-choice.tsx';

/** The most tags to suggest. */
const OFFERED = 30;

interface TagCount {
  tag: string;
  connections: number;
}

/** The account's tags, and how many connections have each. */
export const tagsQuery = read<{ data: TagCount[] }>('/tags');

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
      <SearchChoice
        found={found.map(({ tag, connections }) => ({
          id: tag,
          label: tag,
          description: counted(connections, 'connection'),
        }))}
        label="Tag"
        nothing="No tag matches."
        onChoose={(tag) => {
          setText('');
          onChange([...chosen, tag]);
        }}
        onText={setText}
        options={{ allowsEmptyCollection: true, menuTrigger: 'focus' }}
        placeholder="Filter by tag"
        text={text}
      />
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
