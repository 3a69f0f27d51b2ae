-- The TLS mode verify-ca: the certificate's authority is verified, its host name is not.
alter table connection drop constraint connection_tls_check;
alter table connection
  add constraint connection_tls_check check (tls in ('verify-full', 'verify-ca', 'require', 'disable'));
