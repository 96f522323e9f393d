# The program alone, in an empty image:
#   docker build -t facedp . && docker run --rm -v "$PWD":/work facedp protect examples/photos -o out
FROM rust:1.95-slim AS build
WORKDIR /source
COPY . .
# A static program: glibc's libraries for that come with the compiler's image.
RUN RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --locked --release --bin facedp --target "$(rustc --print host-tuple)" \
    && cp target/*/release/facedp /facedp

FROM scratch
COPY --from=build /facedp /facedp
# Where the key and the ledger are kept; mount a volume to keep them.
ENV XDG_CONFIG_HOME=/config HOME=/config TMPDIR=/work
WORKDIR /work
ENTRYPOINT ["/facedp"]
