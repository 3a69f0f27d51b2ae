import { Named } from '../parts/named.tsx';
import './episodes.css';
import { useState } from 'react';
import type { Episode, EpisodeTree } from '../../../src/console-api/episodes/episode-schemas.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/copy.tsx';
import { counted } from '../parts/figure.ts';
import { useFirstRows } from '../parts/first-rows.tsx';
import { Icon } from '../parts/icons.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { duration, Time, useNow } from '../parts/time.tsx';
import { BlockingTree } from './blocking-tree.tsx';

const episodeKey = ({ began_at, root }: Episode) => `${began_at} ${root}`;

/** Past episodes at first: on a phone each is a block of several lines. */
const ON_PHONE = 3;

/** An open episode grows while it is looked at. */
const TICK_MS = 1_000;

/** Blocking episodes: those that go on, then the others. */
export function EpisodeList({ episodes, label }: { episodes: readonly Episode[]; label: string }) {
  return (
    <div className="episodes">
      <OpenEpisodes episodes={episodes} />
      <PastEpisodes episodes={episodes} label={label} />
    </div>
  );
}

/** The episodes that go on, with their blocking trees and what to run. */
export function OpenEpisodes({ episodes }: { episodes: readonly Episode[] }) {
  return episodes
    .filter(({ ended_at }) => ended_at === null)
    .map((episode) => <OpenEpisode episode={episode} key={episodeKey(episode)} />);
}

function OpenEpisode({ episode }: { episode: Episode }) {
  const seconds = Math.max(0, (useNow(TICK_MS) - Date.parse(episode.began_at)) / 1_000);
  const tree = episode.trees.at(-1);
  const count = tree?.sessions ?? episode.most_sessions;
  return (
    <BlockedNow count={count} ends={episode.ends} role={episode.role} seconds={seconds} tree={tree ?? null} />
  );
}

/** A session that blocks others, as a look at the server just saw it. */
export function LiveEpisode({ tree, ends }: { tree: EpisodeTree; ends: string | null }) {
  const seconds = Math.max(0, ...tree.waits.map((wait) => wait.seconds));
  return (
    <BlockedNow
      count={tree.sessions}
      ends={ends}
      role={tree.root?.role ?? ''}
      seconds={seconds}
      tree={tree}
    />
  );
}

interface BlockedNowProps {
  role: string;
  count: number;
  seconds: number;
  tree: EpisodeTree | null;
  ends: string | null;
}

function BlockedNow({ role, count, seconds, tree, ends }: BlockedNowProps) {
  return (
    <article className="episode">
      <p className="episode-title">
        <Icon name="lock" /> <bdi>{role || 'A session'}</bdi> blocks {counted(count, 'session')}, for{' '}
        {duration(seconds)}
      </p>
      {tree && <BlockingTree tree={tree} />}
      {ends !== null && (
        <>
          <p>To end that session:</p>
          <CodeBlock text={ends} what="SQL" />
        </>
      )}
    </article>
  );
}

/** The episodes that are over, in a table. */
export function PastEpisodes({ episodes, label }: { episodes: readonly Episode[]; label: string }) {
  const [shown, setShown] = useState<string | null>(null);
  const columns: Column<Episode>[] = [
    ...COLUMNS,
    {
      header: 'Blocking tree',
      hideHeader: true,
      width: '8.5rem',
      narrow: 'corner',
      align: 'end',
      cell: (episode) => {
        const isShown = shown === episodeKey(episode);
        return (
          <Button
            aria-expanded={isShown}
            kind="quiet"
            onPress={() => setShown(isShown ? null : episodeKey(episode))}
            small
          >
            {isShown ? 'Hide sessions' : 'Show sessions'}
          </Button>
        );
      },
    },
  ];
  const past = episodes.filter(({ ended_at }) => ended_at !== null);
  const { rows, more } = useFirstRows(past, ON_PHONE);
  if (past.length === 0) return null;
  return (
    <>
      <Table
        columns={columns}
        detail={(episode) => (shown === episodeKey(episode) ? <Trees episode={episode} /> : null)}
        label={label}
        rowKey={episodeKey}
        rows={rows}
      />
      {more}
    </>
  );
}

const COLUMNS: readonly Column<Episode>[] = [
  {
    header: 'Began',
    width: 'minmax(8.5rem, 11rem)',
    cell: ({ began_at }) => <Time as="local" at={began_at} />,
  },
  {
    header: 'Session that blocked others',
    width: 'minmax(7rem, 2fr)',
    narrow: 'lead',
    cell: ({ role, application, database }) => (
      <span className="change-subject">
        <bdi className="mono">{role || 'unknown'}</bdi>
        <span className="quiet small">
          {application && <bdi>{application}</bdi>}
          {application && database && ', '}
          <Named name={database} words="in " />
        </span>
      </span>
    ),
  },
  {
    header: 'Lasted',
    width: '5.5rem',
    align: 'end',
    cell: ({ began_at, ended_at, seen_at }) =>
      duration((Date.parse(ended_at ?? seen_at) - Date.parse(began_at)) / 1_000),
  },
  {
    header: 'Blocked',
    width: '6rem',
    align: 'end',
    cell: ({ most_sessions }) => counted(most_sessions, 'session'),
  },
  {
    header: 'Time lost',
    width: '5.5rem',
    align: 'end',
    cell: ({ lost_seconds }) => duration(lost_seconds),
  },
];

/** The tree of an episode at its beginning, each growth and its peak: one at a time. */
function Trees({ episode: { trees } }: { episode: Episode }) {
  const [place, setPlace] = useState(trees.length - 1);
  const tree = trees[place];
  if (!tree) return <p className="quiet">The blocking tree was not read.</p>;
  return (
    <div className="episode">
      {trees.length > 1 && (
        <div className="page-actions">
          <Button isDisabled={place === 0} kind="quiet" onPress={() => setPlace(place - 1)} small>
            Earlier
          </Button>
          <span>
            <Time as="local" at={tree.at} seconds /> ({place + 1} of {trees.length})
          </span>
          <Button
            isDisabled={place === trees.length - 1}
            kind="quiet"
            onPress={() => setPlace(place + 1)}
            small
          >
            Later
          </Button>
        </div>
      )}
      <BlockingTree tree={tree} />
    </div>
  );
}
