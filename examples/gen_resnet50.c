/* SPDX-License-Identifier: Apache-2.0 */
/* Writes examples/resnet50.yaml: ResNet-50 (ImageNet, 224 x 224, int8) as a tiled graph.
 *
 * Shapes: He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016, table 1,
 * with bottlenecks as in its figure 5; the stride of a down-sampling block is in its 3x3
 * convolution, as common implementations have it (4.09 instead of 3.86 G multiply-adds).  Batch
 * norms are folded into weights and a 4-byte bias per output channel.
 *
 * Tiling: an activation is cut into row tiles and output-channel tiles, one buffer each, laid out
 * by row, column, channel; weights are cut by output channels.  One op makes one tile: it reads the
 * rows that it needs (halo included) of every input tile that holds some of them, and its weights.
 * So that double buffering pays, the tiles are far smaller than the scratchpad.
 *
 * Times: a roofline, see the constants.  The network is walked three times: to add up, to write the
 * buffers, to write the ops. */
#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY (UINT64_C(2) << 20)
#define ALIGN UINT64_C(64)
#define MACS_PER_TICK UINT64_C(2048)       /* of one compute queue; a tick is 1 ns */
#define LOCAL_BYTES_PER_TICK UINT64_C(128) /* scratchpad bandwidth of one compute queue */
#define LAUNCH_TICKS UINT64_C(100)
#define COPY_BYTES_PER_TICK UINT64_C(32)
#define COPY_TICKS UINT64_C(200)
/* The sums that the shapes of table 1 give, which are checked to find mistakes in a shape. */
#define EXPECTED_MACS UINT64_C(4089184256)
#define EXPECTED_WEIGHTS UINT64_C(25502912) /* of convolutions and the classifier, no biases */
#define EXPECTED_CONVS 53

typedef enum phase { ADD_UP, WRITE_BUFFERS, WRITE_OPS } phase;

typedef struct net {
  phase phase;
  FILE *out;
  uint64_t macs, weights, weight_bytes, ticks, ops, convs, largest_need;
  /* the rest belongs to the op being written */
  uint64_t op_bytes, op_need;
  bool first_arg;
} net;

typedef struct tensor {
  char name[24];
  int rows, cols, channels, row_tiles, channel_tiles;
} tensor;

static uint64_t align_up(uint64_t n) { return (n + ALIGN - 1) & ~(ALIGN - 1); }
static uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static int tile_rows(const tensor *t) {
  assert(t->rows % t->row_tiles == 0);
  return t->rows / t->row_tiles;
}
static int tile_channels(const tensor *t) {
  assert(t->channels % t->channel_tiles == 0);
  return t->channels / t->channel_tiles;
}
static uint64_t row_bytes(const tensor *t) {
  return (uint64_t)t->cols * (uint64_t)tile_channels(t);
}
static uint64_t tile_bytes(const tensor *t) { return row_bytes(t) * (uint64_t)tile_rows(t); }

static tensor make_tensor(const char *name, int rows, int cols, int channels, int row_tiles,
                          int channel_tiles) {
  tensor t = {.rows = rows,
              .cols = cols,
              .channels = channels,
              .row_tiles = row_tiles,
              .channel_tiles = channel_tiles};
  (void)snprintf(t.name, sizeof t.name, "%s", name);
  return t;
}

/* An op is written as begin, args, end; its time is known from the start. */
static void begin_op(net *n, const tensor *t, int row_tile, int channel_tile, uint64_t macs,
                     uint64_t bytes) {
  uint64_t ticks = ceil_div(macs, MACS_PER_TICK);
  uint64_t local = ceil_div(bytes, LOCAL_BYTES_PER_TICK);
  ticks = LAUNCH_TICKS + (ticks > local ? ticks : local);
  n->macs += macs;
  n->ticks += ticks;
  n->ops++;
  n->op_bytes = 0;
  n->op_need = 0;
  n->first_arg = true;
  if (n->phase == WRITE_OPS) {
    fprintf(n->out, "  - {name: %s.%d.%d, time: %" PRIu64 ", args: [", t->name, row_tile,
            channel_tile, ticks);
  }
}

static void arg(net *n, const char *text, uint64_t touched, uint64_t size) {
  n->op_bytes += touched;
  n->op_need += align_up(size);
  if (n->phase == WRITE_OPS) {
    fprintf(n->out, "%s{%s}", n->first_arg ? "" : ", ", text);
  }
  n->first_arg = false;
}

/* Reads rows [begin, end) of one channel tile, in whichever row tiles they are; returns the
 * bytes. */
static uint64_t read_rows(net *n, const tensor *t, int begin, int end, int channel_tile,
                          bool quiet) {
  char text[128];
  uint64_t bytes = 0;
  int per_tile = tile_rows(t);
  begin = begin < 0 ? 0 : begin;
  end = end > t->rows ? t->rows : end;
  for (int r = begin / per_tile; r * per_tile < end; r++) {
    int first = begin > r * per_tile ? begin - r * per_tile : 0;
    int last = end < (r + 1) * per_tile ? end - r * per_tile : per_tile;
    uint64_t touched = (uint64_t)(last - first) * row_bytes(t);
    bytes += touched;
    if (quiet) {
      continue;
    }
    int used = t->row_tiles * t->channel_tiles == 1
                   ? snprintf(text, sizeof text, "in: %s", t->name)
                   : snprintf(text, sizeof text, "in: %s.%d.%d", t->name, r, channel_tile);
    if (touched != tile_bytes(t)) {
      (void)snprintf(text + used, sizeof text - (size_t)used, ", at: [%" PRIu64 ", %" PRIu64 "]",
                     (uint64_t)first * row_bytes(t), touched);
    }
    arg(n, text, touched, tile_bytes(t));
  }
  return bytes;
}

static uint64_t read_all_channels(net *n, const tensor *t, int begin, int end, bool quiet) {
  uint64_t bytes = 0;
  for (int c = 0; c < t->channel_tiles; c++) {
    bytes += read_rows(n, t, begin, end, c, quiet);
  }
  return bytes;
}

static void end_op(net *n, const tensor *t, int row_tile, int channel_tile, const char *more) {
  char text[128];
  (void)snprintf(text, sizeof text, "out: %s.%d.%d, size: %" PRIu64, t->name, row_tile,
                 channel_tile, tile_bytes(t));
  arg(n, text, tile_bytes(t), tile_bytes(t));
  if (n->phase == WRITE_OPS) {
    fprintf(n->out, "]%s}\n", more);
  }
  n->largest_need = n->op_need > n->largest_need ? n->op_need : n->largest_need;
}

/* The weights of one channel tile: k * k * inputs per output channel, and a bias. */
static uint64_t declare_weights(net *n, const tensor *t, uint64_t per_channel) {
  uint64_t outputs = (uint64_t)tile_channels(t);
  uint64_t bytes = outputs * (per_channel + 4);
  for (int c = 0; c < t->channel_tiles; c++) {
    n->weights += outputs * per_channel;
    n->weight_bytes += bytes;
    if (n->phase == WRITE_BUFFERS) {
      fprintf(n->out, "  - {name: %s.w%d, size: %" PRIu64 ", io: constant}\n", t->name, c, bytes);
    }
  }
  return bytes;
}

static tensor convolution(net *n, const char *name, const tensor *in, int k, int stride,
                          int channels, int row_tiles, int channel_tiles) {
  tensor t =
      make_tensor(name, in->rows / stride, in->cols / stride, channels, row_tiles, channel_tiles);
  uint64_t per_channel = (uint64_t)k * (uint64_t)k * (uint64_t)in->channels;
  uint64_t weights = declare_weights(n, &t, per_channel);
  int rows = tile_rows(&t);
  for (int r = 0; r < row_tiles; r++) {
    int begin = r * rows * stride - k / 2;
    int end = (r * rows + rows - 1) * stride - k / 2 + k;
    for (int c = 0; c < channel_tiles; c++) {
      uint64_t bytes = read_all_channels(n, in, begin, end, true) + weights + tile_bytes(&t);
      begin_op(n, &t, r, c, tile_bytes(&t) * per_channel, bytes);
      (void)read_all_channels(n, in, begin, end, false);
      char text[64];
      (void)snprintf(text, sizeof text, "in: %s.w%d", t.name, c);
      arg(n, text, weights, weights);
      end_op(n, &t, r, c, "");
      assert(n->op_bytes == bytes);
    }
  }
  n->convs++;
  return t;
}

/* The sum of two equal tensors (and ReLU); takes the place of the first where it can. */
static tensor addition(net *n, const char *name, const tensor *a, const tensor *b) {
  tensor t = *a;
  (void)snprintf(t.name, sizeof t.name, "%s", name);
  assert(tile_bytes(a) == tile_bytes(b) && a->row_tiles == b->row_tiles);
  int rows = tile_rows(&t);
  for (int r = 0; r < t.row_tiles; r++) {
    for (int c = 0; c < t.channel_tiles; c++) {
      char inplace[128];
      (void)snprintf(inplace, sizeof inplace, ", inplace: {%s.%d.%d: %s.%d.%d}", t.name, r, c,
                     a->name, r, c);
      begin_op(n, &t, r, c, 0, 3 * tile_bytes(&t));
      (void)read_rows(n, a, r * rows, (r + 1) * rows, c, false);
      (void)read_rows(n, b, r * rows, (r + 1) * rows, c, false);
      end_op(n, &t, r, c, inplace);
    }
  }
  return t;
}

/* k x k maximum or mean with padding k / 2, channel tile by channel tile. */
static tensor pooling(net *n, const char *name, const tensor *in, int k, int stride, int pad,
                      int row_tiles) {
  int rows_out = (in->rows + 2 * pad - k) / stride + 1;
  int cols_out = (in->cols + 2 * pad - k) / stride + 1;
  tensor t = make_tensor(name, rows_out, cols_out, in->channels, row_tiles, in->channel_tiles);
  int rows = tile_rows(&t);
  for (int r = 0; r < row_tiles; r++) {
    int begin = r * rows * stride - pad;
    int end = (r * rows + rows - 1) * stride - pad + k;
    for (int c = 0; c < t.channel_tiles; c++) {
      begin_op(n, &t, r, c, 0, read_rows(n, in, begin, end, c, true) + tile_bytes(&t));
      (void)read_rows(n, in, begin, end, c, false);
      end_op(n, &t, r, c, "");
    }
  }
  return t;
}

/* One of table 1's conv2_x .. conv5_x.  Tiles: rows of what enters and of what leaves, channels of
 * the two narrow convolutions and of the wide one. */
typedef struct stage {
  int number, blocks, width, stride;
  int rows_in, rows_out, tiles_a, tiles_b, tiles_c;
} stage;

static const stage stages[] = {
    {2, 3, 64, 1, 8, 8, 1, 1, 1},
    {3, 4, 128, 2, 8, 4, 1, 1, 1},
    {4, 6, 256, 2, 4, 2, 2, 4, 4},
    {5, 3, 512, 2, 2, 1, 8, 8, 8},
};

static tensor bottleneck(net *n, const stage *s, int block, const tensor *in) {
  char name[4][24];
  static const char *const part[4] = {"a", "b", "c", "p"};
  for (int i = 0; i < 4; i++) {
    (void)snprintf(name[i], sizeof name[i], "conv%d_%d%s", s->number, block, part[i]);
  }
  int stride = block == 1 ? s->stride : 1;
  int rows_a = block == 1 ? s->rows_in : s->rows_out;
  tensor shortcut = *in;
  tensor a = convolution(n, name[0], in, 1, 1, s->width, rows_a, s->tiles_a);
  tensor b = convolution(n, name[1], &a, 3, stride, s->width, s->rows_out, s->tiles_b);
  tensor c = convolution(n, name[2], &b, 1, 1, 4 * s->width, s->rows_out, s->tiles_c);
  if (block == 1) { /* the projection of the shortcut */
    shortcut = convolution(n, name[3], in, 1, stride, 4 * s->width, s->rows_out, s->tiles_c);
  }
  char sum[24];
  (void)snprintf(sum, sizeof sum, "conv%d_%d", s->number, block);
  return addition(n, sum, &c, &shortcut);
}

/* Probabilities from the classifier's logits: one small op. */
static void softmax(net *n, const tensor *logits) {
  begin_op(n, &(tensor){.name = "softmax"}, 0, 0, 0, 2 * (uint64_t)logits->channels);
  (void)read_all_channels(n, logits, 0, 1, false);
  arg(n, "out: probabilities", (uint64_t)logits->channels, (uint64_t)logits->channels);
  if (n->phase == WRITE_OPS) {
    fprintf(n->out, "]}\n");
  }
}

static void network(net *n) {
  tensor image = make_tensor("image", 224, 224, 3, 1, 1);
  tensor t = convolution(n, "conv1", &image, 7, 2, 64, 8, 1);
  t = pooling(n, "pool1", &t, 3, 2, 1, 8);
  for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
    for (int block = 1; block <= stages[i].blocks; block++) {
      t = bottleneck(n, &stages[i], block, &t);
    }
  }
  t = pooling(n, "pool5", &t, 7, 1, 0, 1);
  t = convolution(n, "fc", &t, 1, 1, 1000, 1, 8);
  n->convs--; /* a matrix product, not one of the 53 */
  softmax(n, &t);
}

static void walk(net *n, phase p) {
  *n = (net){.phase = p, .out = n->out};
  network(n);
}

static void write_header(const net *n) {
  FILE *f = n->out;
  fprintf(f,
          "# SPDX-License-Identifier: Apache-2.0\n"
          "# Written by examples/gen_resnet50.c (make examples); do not edit.\n"
          "# ResNet-50, 224 x 224, int8, tiled for a scratchpad of 2 MiB.  Shapes: He et al.,\n"
          "# Deep Residual Learning for Image Recognition, CVPR 2016, table 1 (stride in the\n"
          "# 3x3 convolutions).  Op NAME.R.C makes row tile R, channel tile C of layer NAME.\n");
  fprintf(f,
          "# %" PRIu64 " convolutions, %" PRIu64 " multiply-adds, %" PRIu64 " weights, %" PRIu64
          " ops; the largest op needs\n# %" PRIu64 " bytes.\n",
          n->convs, n->macs, n->weights, n->ops, n->largest_need);
  fprintf(f,
          "# Times: 100 ns + the larger of multiply-adds / 2048 and bytes touched / 128 per ns "
          "on each of\n# two compute queues (%" PRIu64
          " ns of work); copies take 200 ns + "
          "bytes / 32 (%" PRIu64 " bytes of weights).\n",
          n->ticks, n->weight_bytes);
}

static void write_target(FILE *f) {
  fprintf(f,
          "fsched: 1\nname: resnet50\ntarget:\n  time_unit: ns\n  queues:\n"
          "    - {name: dpu0, class: compute}\n    - {name: dpu1, class: compute}\n"
          "    - {name: dma, class: copy}\n  memories:\n    - name: cmx\n      capacity: 2MiB\n"
          "      align: %" PRIu64
          "\n      backing: ddr\n"
          "      spill: {on: copy, write: {fixed: %" PRIu64 ", rate: %" PRIu64
          "}, "
          "read: {fixed: %" PRIu64 ", rate: %" PRIu64 "}}\n    - {name: ddr}\n",
          ALIGN, COPY_TICKS, COPY_BYTES_PER_TICK, COPY_TICKS, COPY_BYTES_PER_TICK);
}

static bool is_right(const net *n) {
  return n->macs == EXPECTED_MACS && n->weights == EXPECTED_WEIGHTS && n->convs == EXPECTED_CONVS &&
         n->largest_need <= CAPACITY;
}

int main(void) {
  net n = {.out = stdout};
  walk(&n, ADD_UP);
  if (!is_right(&n)) {
    fprintf(stderr,
            "gen_resnet50: wrong totals: %" PRIu64 " multiply-adds, %" PRIu64 " weights, %" PRIu64
            " convolutions, largest op %" PRIu64 " bytes\n",
            n.macs, n.weights, n.convs, n.largest_need);
    return EXIT_FAILURE;
  }
  write_header(&n);
  write_target(n.out);
  fprintf(n.out,
          "buffers:\n  - {name: image, size: 150528, io: input}\n"
          "  - {name: probabilities, size: 1000, io: output}\n");
  walk(&n, WRITE_BUFFERS);
  fprintf(n.out, "ops:\n");
  walk(&n, WRITE_OPS);
  return fflush(n.out) == 0 && !ferror(n.out) ? EXIT_SUCCESS : EXIT_FAILURE;
}
