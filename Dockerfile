# Two images from one build: errand (worker, gateway and the errand command) and robot (a simulated device, and the shim for a plain one).
#   docker build --target errand -t errand .
#   docker build --target robot -t errand-robot .
# docker-compose.yml builds both.

# The version is go.mod's, in its newest patch: the toolchain of the image is the one that is used.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# SQLite is compiled from Go (modernc.org/sqlite), so that nothing here needs C and the programs are static.
ENV CGO_ENABLED=0
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go build -trimpath -ldflags="-s -w" -o /out/bin/errand ./starter && \
    go build -trimpath -ldflags="-s -w" -o /out/bin/worker ./worker && \
    go build -trimpath -ldflags="-s -w" -o /out/bin/gateway ./deviceio/cmd/gateway && \
    go build -trimpath -ldflags="-s -w" -o /out/bin/robot ./deviceio/cmd/robot && \
    go build -trimpath -ldflags="-s -w" -o /out/bin/shim ./deviceio/cmd/shim
# A new named volume takes its owner and its mode from the folder of the image that it is mounted on.
RUN mkdir -m 0700 /out/state

# No shell and no package manager; certificates and a user without rights (65532) are there.
FROM gcr.io/distroless/static-debian12:nonroot AS errand
COPY --from=build /out/bin/errand /out/bin/worker /out/bin/gateway /usr/local/bin/
COPY --from=build --chown=65532:65532 /out/state /var/lib/errand
USER 65532:65532
WORKDIR /var/lib/errand
CMD ["errand", "--help"]

FROM gcr.io/distroless/static-debian12:nonroot AS robot
COPY --from=build /out/bin/robot /out/bin/shim /usr/local/bin/
COPY --from=build --chown=65532:65532 /out/state /var/lib/robot
USER 65532:65532
WORKDIR /var/lib/robot
CMD ["robot"]
