/** The authorities that dbvitals ships, by the name that stands for them in `connection.ca_certificate`. */
export const SHIPPED_AUTHORITIES = ['aws-rds'] as const;

export type ShippedAuthority = (typeof SHIPPED_AUTHORITIES)[number];

export function isShippedAuthority(text: string): text is ShippedAuthority {
  return SHIPPED_AUTHORITIES.some((name) => name === text);
}

const OF_SYSTEM =
  'needs no certificates of its own: its servers have certificates that the system trusts already. Leave out --ca.';

/** Names of providers whose certificates dbvitals can't ship → where to get them, as a sentence. */
export const OTHER_AUTHORITIES: Readonly<Record<string, string>> = {
  alloydb:
    'AlloyDB has an authority for each cluster: get its certificate from the instance with the AlloyDB Auth Proxy or the console, and pass it with --ca-file.',
  aiven:
    'Aiven has an authority for each project: run "avn project ca-get --target-filepath ca.pem", and pass --ca-file ca.pem.',
  azure: `Azure ${OF_SYSTEM}`,
  digitalocean:
    'DigitalOcean has an authority for each project: run "doctl databases get-ca CLUSTER --format Certificate --no-header > ca.pem", and pass --ca-file ca.pem.',
  gcp: 'Cloud SQL has an authority for each instance: run "gcloud sql instances describe INSTANCE --format=\'value(serverCaCert.cert)\' > ca.pem", and pass --ca-file ca.pem.',
  neon: `Neon ${OF_SYSTEM}`,
  supabase:
    'Download the certificate in the Supabase dashboard (Database, Settings, SSL Configuration), and pass it with --ca-file.',
};
