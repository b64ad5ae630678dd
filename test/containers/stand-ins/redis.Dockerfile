FROM quittance-stand-in/debian
COPY redis /usr/local/redis
COPY redis-entrypoint.sh /usr/local/bin/
ENV PATH=/usr/local/redis/bin:/usr/local/bin:/usr/bin:/bin LD_LIBRARY_PATH=/usr/local/redis/lib
EXPOSE 6379
ENTRYPOINT ["redis-entrypoint.sh"]
CMD ["redis-server"]
