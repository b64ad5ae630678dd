FROM quittance-stand-in/debian
COPY postgres /usr/local/postgres
COPY pg_isready /usr/local/bin/
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/local/postgres/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/data/postgres
RUN mkdir /data && chown 999:999 /data && echo 'postgres:x:999:999::/data:/bin/bash' >> /etc/passwd
USER 999:999
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
STOPSIGNAL SIGINT
