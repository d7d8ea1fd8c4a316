// SPDX-License-Identifier: Apache-2.0
// The DAGs of bench_replay as Taskflow graphs, built once and run again and again: ns per task, on
// one thread and on all.  Built only where taskflow/taskflow.hpp is installed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <taskflow/taskflow.hpp>
#include <thread>
#include <vector>

namespace {

constexpr std::uint32_t ops = 4096, width = 64;
constexpr int runs = 15, repeat = 10;

using edges = std::function<void(std::uint32_t, const std::function<void(std::uint32_t)> &)>;

void fill(tf::Taskflow &flow, const edges &before) {
  std::vector<tf::Task> task;
  for (std::uint32_t i = 0; i < ops; i++) {
    task.push_back(flow.emplace([] {}));
    before(i, [&](std::uint32_t b) { task[b].precede(task[i]); });
  }
}

double once(tf::Executor &executor, tf::Taskflow &flow) {
  double best = 0;
  for (int k = 0; k < repeat; k++) {
    auto begin = std::chrono::steady_clock::now();
    executor.run(flow).wait();
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = best == 0 ? took.count() : std::min(best, took.count());
  }
  return best / ops;
}

void row(const char *name, unsigned threads, const edges &before) {
  tf::Executor executor(threads);
  tf::Taskflow flow;
  fill(flow, before);
  std::vector<double> ns;
  for (int k = 0; k < runs; k++) {
    ns.push_back(once(executor, flow));
  }
  std::sort(ns.begin(), ns.end());
  std::printf("%-36s %2u threads %9.1f %10.1f\n", name, threads, ns.front(), ns[runs / 2]);
}

void chain(std::uint32_t i, const std::function<void(std::uint32_t)> &add) {
  if (i > 0) {
    add(i - 1);
  }
}

void independent(std::uint32_t, const std::function<void(std::uint32_t)> &) {}

void layered(std::uint32_t i, const std::function<void(std::uint32_t)> &add) {
  if (i < width) {
    return;
  }
  std::uint32_t layer = i - i % width - width;
  std::uint32_t a = layer + i % width, b = layer + (i * 7 + 3) % width;
  add(a);
  add(b == a ? layer + (i + 1) % width : b);
}

} // namespace

int main() {
  unsigned all = std::max(1u, std::thread::hardware_concurrency());
  std::printf("Taskflow, ns per task, %u tasks                      minimum     median\n", ops);
  for (unsigned threads : {1u, all}) {
    row("chain", threads, chain);
    row("independent", threads, independent);
    row("layered, 2 inputs, width 64", threads, layered);
  }
  return 0;
}
