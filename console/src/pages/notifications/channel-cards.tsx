import { Link } from '@tanstack/react-router';
import type { Channel } from '../../../../src/vocabulary/channels.ts';
import { ChannelIcon } from './channel-icon.tsx';
import { CHANNEL_TEXTS, OFFERED } from './channel-texts.ts';

/** The channels as cards; each opens its form. `available` are those that this service can send to. */
export function ChannelCards({ available }: { available: readonly Channel[] }) {
  return (
    <ul className="channel-cards">
      {OFFERED.map((channel) => (
        <li key={channel}>
          <ChannelCard channel={channel} isAvailable={available.includes(channel)} />
        </li>
      ))}
    </ul>
  );
}

function ChannelCard({ channel, isAvailable }: { channel: Channel; isAvailable: boolean }) {
  const { name, words } = CHANNEL_TEXTS[channel];
  const content = (
    <>
      <ChannelIcon channel={channel} />
      <span>
        <span className="channel-name">{name}</span>
        <span className="channel-words">{isAvailable ? words : 'Needs DBVITALS_SMTP_URL'}</span>
      </span>
    </>
  );
  if (!isAvailable) return <div className="channel-card not-available">{content}</div>;
  return (
    <Link className="channel-card" from="/notifications" search={{ add: channel }} to="/notifications">
      {content}
    </Link>
  );
}
