"""One OpenStack Swift with its interface of S3, in one process, all on the loopback interface: the proxy on the given port, and the
servers of accounts, containers and objects on ports of their own.

    swift-python swift-store.py FOLDER PORT REGION KEY=SECRET[:admin] ...

FOLDER keeps the objects. Who is no admin may do nothing: there are no grants. A key is `account:user`.
"""

import array
import logging
import logging.handlers
import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import wsgi
from swift.common import utils
from swift.common.ring import RingData
from swift.common.wsgi import ConfigString, loadapp

SERVERS = ('account', 'container', 'object')
# What a single copy of everything needs: one partition on one device.
PARTITION_SHIFT = 31


class Cache(dict):
    """In the place of memcached, which tempauth wants."""

    def __bool__(self):
        return True

    def get(self, key, *_, **__):
        return super().get(key)

    def set(self, key, value, *_, **__):
        self[key] = value

    def delete(self, key, *_, **__):
        self.pop(key, None)


def log_to_stderr():
    handler = logging.handlers.SysLogHandler
    handler.emit = lambda self, record: print(self.format(record), file=sys.stderr, flush=True)


def write_rings(folder, sockets):
    for name, socket in sockets.items():
        port = socket.getsockname()[1]
        device = {'id': 0, 'region': 1, 'zone': 1, 'weight': 1.0, 'device': 'device', 'meta': ''}
        device.update({'ip': '127.0.0.1', 'port': port})
        device.update({'replication_ip': '127.0.0.1', 'replication_port': port})
        ring = RingData([array.array('H', [0, 0])], [device], PARTITION_SHIFT)
        ring.save(os.path.join(folder, f'{name}.ring.gz'))


def server(name, common):
    return loadapp(ConfigString(f'{common}[pipeline:main]\npipeline = server\n[app:server]\nuse = egg:swift#{name}\n'))


def proxy(common, region, users):
    filters = {
        'catch_errors': '',
        'healthcheck': '',
        'gatekeeper': '',
        's3api': f'location = {region}\n',
        'tempauth': ''.join(users),
        'slo': '',
        'dlo': '',
    }
    sections = ''.join(f'[filter:{name}]\nuse = egg:swift#{name}\n{more}' for name, more in filters.items())
    app = loadapp(
        ConfigString(
            f'{common}[pipeline:main]\npipeline = {" ".join(filters)} proxy-server\n{sections}'
            '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\n'
        )
    )
    cache = Cache()

    def cached(env, start_response):
        env['swift.cache'] = cache
        return app(env, start_response)

    return cached


def user_line(given):
    key, _, secret = given.partition('=')
    secret, _, role = secret.partition(':')
    return f'user_{key.replace(":", "_")} = {secret}{" .admin" if role else ""}\n'


def main(folder, port, region, *users):
    folder = os.path.abspath(folder)
    os.makedirs(os.path.join(folder, 'device'), exist_ok=True)
    with open(os.path.join(folder, 'swift.conf'), 'w') as file:
        file.write('[swift-hash]\nswift_hash_path_suffix = suffix\n')
    utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')
    utils.validate_hash_conf()
    log_to_stderr()
    sockets = {name: eventlet.listen(('127.0.0.1', 0)) for name in SERVERS}
    write_rings(folder, sockets)
    common = f'[DEFAULT]\nswift_dir = {folder}\ndevices = {folder}\nmount_check = false\nfallocate_reserve = 0\n'
    for name, socket in sockets.items():
        eventlet.spawn(wsgi.server, socket, server(name, common), log_output=False)
    front = proxy(common, region, [user_line(user) for user in users])
    wsgi.server(eventlet.listen(('127.0.0.1', int(port))), front, log_output=False)


main(*sys.argv[1:])
