"""An SMTP server that requires STARTTLS and a login: python3 login-server.py PORT CERTIFICATE KEY PASSWORD"""
import ssl
import sys
import threading

try:
    from aiosmtpd.controller import Controller
    from aiosmtpd.handlers import Sink
    from aiosmtpd.smtp import AuthResult
except ImportError:
    sys.exit('aiosmtpd is not installed: "apt-get install python3-aiosmtpd" on Debian, then run this again.')

port, certificate, key, password = sys.argv[1:]


def authenticate(server, session, envelope, mechanism, data):
    known = data.login == b"watcher" and data.password == password.encode()
    return AuthResult(success=known, handled=False)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
controller = Controller(
    Sink(),
    hostname="127.0.0.1",
    port=int(port),
    tls_context=context,
    require_starttls=True,
    auth_required=True,
    authenticator=authenticate,
)
controller.start()
threading.Event().wait()
