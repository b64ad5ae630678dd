FROM quittance-stand-in/debian
COPY nats-server /
ENV PATH=/usr/local/bin:/usr/bin:/bin:/
EXPOSE 4222
ENTRYPOINT ["/nats-server"]
