FROM quittance-stand-in/debian
COPY nats-server /usr/local/bin/
EXPOSE 4222
ENTRYPOINT ["nats-server"]
